/* A stand-in for libcuda.so.1, the CUDA driver: which devices a process sees, and their UUIDs, as in NVIDIA's reference
(docs.nvidia.com/cuda/cuda-driver-api) and the CUDA C++ Programming Guide on CUDA_VISIBLE_DEVICES. */

#include "gpus.h"

static Device *visible[GPUS];
static int seen;

static unsigned long long rank(const Device *device) {
    char capability[TEXT] = "0.0";
    int major = 0, minor = 0;
    unsigned long long bytes = 0;
    text(device, "capability", capability);
    sscanf(capability, "%d.%d", &major, &minor);
    number(device, "memory_total_bytes", &bytes);
    return ((unsigned long long)(10 * major + minor) << 48) + bytes;
}

/* CUDA's order: by bus, which is NVML's, or else the fastest first; guessed here from capability, then memory. */
static int in_order(Device **all) {
    int count = (int)gpus();
    const char *order = getenv("CUDA_DEVICE_ORDER");
    for (int gpu = 0; gpu < count; gpu++) {
        int at = gpu;
        while (!(order && !strcmp(order, "PCI_BUS_ID")) && at && rank(all[at - 1]) < rank(&devices[gpu][INSTANCES])) {
            all[at] = all[at - 1];
            at--;
        }
        all[at] = &devices[gpu][INSTANCES];
    }
    return count;
}

/* An index in CUDA's order, or the beginning of a UUID. */
static Device *named(const char *name, Device **all, int count) {
    char found[TEXT], *end;
    long index = strtol(name, &end, 10);
    if (end != name && !*end) return index >= 0 && index < count ? all[index] : NULL;
    for (int gpu = 0; gpu < count; gpu++)
        for (int i = 0; i <= INSTANCES; i++)
            if (is_there(&devices[gpu][i]) && text(&devices[gpu][i], "uuid", found) == SUCCESS &&
                *name && !strncmp(found, name, strlen(name)))
                return &devices[gpu][i];
    return NULL;
}

/* 100 is CUDA_ERROR_NO_DEVICE. Names behind one that is unknown are ignored, as the CUDA C++ guide says. */
int cuInit(unsigned flags) {
    Device *all[GPUS], *one;
    char names[4 * TEXT];
    const char *given = getenv("CUDA_VISIBLE_DEVICES");
    (void)flags;
    if (open_gpus() != SUCCESS) return 100;
    int count = in_order(all);
    seen = 0;
    if (!given) {
        memcpy(visible, all, sizeof all);
        seen = count;
        return seen ? 0 : 100;
    }
    snprintf(names, sizeof names, "%s", given);
    for (char *name = strtok(names, ","); name && seen < GPUS && (one = named(name, all, count)); name = strtok(NULL, ","))
        visible[seen++] = one;
    return seen ? 0 : 100;
}

int cuDeviceGetCount(int *count) {
    *count = seen;
    return 0;
}
int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < seen ? 0 : 101; /* CUDA_ERROR_INVALID_DEVICE */
}

/* The 16 bytes behind "GPU-" or "MIG-". */
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
    char found[TEXT];
    if (device < 0 || device >= seen) return 101;
    if (text(visible[device], "uuid", found) != SUCCESS) return 999;
    char *at = found + 4;
    for (int i = 0; i < 16; i++) {
        unsigned byte = 0;
        if (*at == '-') at++;
        sscanf(at, "%2x", &byte);
        uuid[i] = (unsigned char)byte;
        at += 2;
    }
    return 0;
}
