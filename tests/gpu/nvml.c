/* A stand-in for libnvidia-ml.so.1, NVML: functions, structures and errors as in NVIDIA's reference
(docs.nvidia.com/deploy/nvml-api), as far as nvidia-ml-py calls them for bakeoff. */

#include "gpus.h"

typedef struct { unsigned pid; unsigned long long bytes; } ProcessV1;
typedef struct { unsigned pid; unsigned long long bytes; unsigned gpu_instance, compute_instance; } ProcessV2;
typedef struct { unsigned found, room; int version, hides_bytes; void *list; } Listing;

static void list_one(int pid, unsigned long long bytes, void *context) {
    Listing *listing = context;
    unsigned at = listing->found++;
    if (!listing->list || at >= listing->room) return;
    if (listing->hides_bytes) bytes = NOT_AVAILABLE;
    if (listing->version == 1)
        ((ProcessV1 *)listing->list)[at] = (ProcessV1){pid, bytes};
    else
        ((ProcessV2 *)listing->list)[at] = (ProcessV2){pid, bytes, ~0U, ~0U};
}

/* The key `processes`: `unsized` hides their memory (WSL), `hidden` them all (containers), `race` never has room. */
static int processes(const Device *device, unsigned *count, void *list, int version) {
    char says[TEXT] = "";
    int answer = text(device, "processes", says);
    if (answer != SUCCESS && answer != NOT_SUPPORTED) return answer;
    Listing listing = {0, *count, version, !strcmp(says, "unsized"), list};
    if (strcmp(says, "hidden")) visit_processes(device, list_one, &listing);
    int short_of_room = listing.found > (list ? listing.room : 0) || !strcmp(says, "race");
    *count = listing.found;
    return short_of_room ? INSUFFICIENT_SIZE : SUCCESS;
}

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    return open_gpus();
}
int nvmlInit_v2(void) { return open_gpus(); }

int nvmlShutdown(void) {
    if (!opened) return UNINITIALIZED;
    opened--;
    return SUCCESS;
}

const char *nvmlErrorString(int code) {
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (ERRORS[i].code == code) return ERRORS[i].text;
    return code ? "Unknown Error" : "The operation was successful";
}

int nvmlSystemGetDriverVersion(char *version, unsigned length) {
    return text_into(&devices[0][INSTANCES], "driver", version, length);
}

/* NVML reports CUDA 12.8 as 12080. */
int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    char found[TEXT];
    int major = 0, minor = 0, answer = text(&devices[0][INSTANCES], "cuda", found);
    if (answer != SUCCESS) return answer;
    sscanf(found, "%d.%d", &major, &minor);
    *version = 1000 * major + 10 * minor;
    return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

int nvmlDeviceGetCount_v2(unsigned *count) {
    char value[TEXT];
    if (!opened) return UNINITIALIZED;
    int answer = system_says("count", value);
    if (answer != SUCCESS && answer != NOT_SUPPORTED) return answer;
    *count = gpus();
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device **device) {
    char value[TEXT];
    if (!opened) return UNINITIALIZED;
    if (index >= gpus()) return INVALID_ARGUMENT;
    *device = &devices[index][INSTANCES];
    int answer = text(*device, "handle", value); /* handle=error:NO_PERMISSION: a GPU that may not be opened */
    return answer == NOT_SUPPORTED ? SUCCESS : answer;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, Device **device) {
    char found[TEXT];
    if (!opened) return UNINITIALIZED;
    for (unsigned gpu = 0; gpu < gpus(); gpu++)
        for (int i = 0; i <= INSTANCES; i++) {
            *device = &devices[gpu][i];
            if (is_there(*device) && text(*device, "uuid", found) == SUCCESS && !strcmp(found, uuid)) return SUCCESS;
        }
    return NOT_FOUND;
}

int nvmlDeviceGetIndex(Device *device, unsigned *index) {
    *index = device->instance < 0 ? device->gpu : device->instance;
    return SUCCESS;
}

int nvmlDeviceGetName(Device *device, char *name, unsigned length) { return text_into(device, "name", name, length); }
int nvmlDeviceGetUUID(Device *device, char *uuid, unsigned length) { return text_into(device, "uuid", uuid, length); }

int nvmlDeviceGetCudaComputeCapability(Device *device, int *major, int *minor) {
    char found[TEXT];
    int answer = text(device, "capability", found);
    if (answer == SUCCESS) sscanf(found, "%d.%d", major, minor);
    return answer;
}

typedef struct { unsigned long long total, free, used; } MemoryV1;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } MemoryV2;

int nvmlDeviceGetMemoryInfo(Device *device, MemoryV1 *info) {
    int answer = memory(device, &info->total, &info->used);
    info->free = info->total - info->used;
    return answer;
}

int nvmlDeviceGetMemoryInfo_v2(Device *device, MemoryV2 *info) {
    if (info->version != (sizeof *info | 2U << 24)) return 25; /* ARGUMENT_VERSION_MISMATCH */
    int answer = memory(device, &info->total, &info->used);
    info->free = info->total - info->used;
    info->reserved = 0;
    return answer;
}

enum { GRAPHICS, SM, MEM };

static void count(int pid, unsigned long long bytes, void *total) {
    (void)pid;
    (void)bytes;
    ++*(unsigned *)total;
}

/* What a GPU without any process shows, where its file says it: idle clocks and power. */
static int idle_or(Device *device, const char *idle_key, const char *key, unsigned *value) {
    unsigned running = 0;
    visit_processes(device, count, &running);
    if (!running && unsigned_number(device, idle_key, value) == SUCCESS) return SUCCESS;
    return unsigned_number(device, key, value);
}

int nvmlDeviceGetClockInfo(Device *device, int type, unsigned *mhz) {
    if (type == MEM) return unsigned_number(device, "memory_clock_mhz", mhz);
    return idle_or(device, "clock_idle_mhz", "clock_mhz", mhz);
}
int nvmlDeviceGetMaxClockInfo(Device *device, int type, unsigned *mhz) {
    return unsigned_number(device, type == MEM ? "memory_clock_max_mhz" : "clock_max_mhz", mhz);
}
/* Set by `nvidia-smi -ac`: the pair of graphics and memory clock; SM is refused, as by NVML. */
int nvmlDeviceGetApplicationsClock(Device *device, int type, unsigned *mhz) {
    if (type == SM) return INVALID_ARGUMENT;
    return unsigned_number(device, type == MEM ? "memory_clock_application_mhz" : "clock_application_mhz", mhz);
}
int nvmlDeviceGetDefaultApplicationsClock(Device *device, int type, unsigned *mhz) {
    if (type == SM) return INVALID_ARGUMENT;
    return unsigned_number(device, type == MEM ? "memory_clock_default_mhz" : "clock_default_mhz", mhz);
}
int nvmlDeviceGetTemperature(Device *device, int sensor, unsigned *celsius) {
    return sensor ? INVALID_ARGUMENT : unsigned_number(device, "temperature_c", celsius);
}

#define UNSIGNED(function, key) \
    int function(Device *device, unsigned *value) { return unsigned_number(device, key, value); }
UNSIGNED(nvmlDeviceGetPowerManagementLimit, "power_limit_mw")
UNSIGNED(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw")
UNSIGNED(nvmlDeviceGetPowerManagementDefaultLimit, "power_default_mw")
UNSIGNED(nvmlDeviceGetPersistenceMode, "persistence")
UNSIGNED(nvmlDeviceGetComputeMode, "compute_mode")
UNSIGNED(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation")
UNSIGNED(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max")
UNSIGNED(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
UNSIGNED(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")

int nvmlDeviceGetPowerUsage(Device *device, unsigned *milliwatts) {
    return idle_or(device, "power_idle_mw", "power_mw", milliwatts);
}

/* `total_energy_mj=counts`: a counter that rises by the power that the GPU draws. */
int nvmlDeviceGetTotalEnergyConsumption(Device *device, unsigned long long *millijoules) {
    char found[TEXT];
    struct timespec now;
    unsigned long long milliwatts = 0;
    int answer = text(device, "total_energy_mj", found);
    if (answer != SUCCESS) return answer;
    if (strcmp(found, "counts")) return number(device, "total_energy_mj", millijoules);
    clock_gettime(CLOCK_MONOTONIC, &now);
    number(device, "power_mw", &milliwatts);
    *millijoules = milliwatts * (now.tv_sec * 1000ULL + now.tv_nsec / 1000000ULL) / 1000;
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(Device *device, unsigned long long *reasons) {
    return number(device, "throttle_reasons", reasons);
}
int nvmlDeviceGetCurrentClocksEventReasons(Device *device, unsigned long long *reasons) {
    return number(device, "throttle_reasons", reasons);
}

#define NOW_AND_PENDING(function, key) \
    int function(Device *device, unsigned *now, unsigned *pending) { \
        int answer = unsigned_number(device, key, now); \
        *pending = *now; \
        return answer; \
    }
NOW_AND_PENDING(nvmlDeviceGetEccMode, "ecc")
NOW_AND_PENDING(nvmlDeviceGetMigMode, "mig")

typedef struct { unsigned gpu, memory; } Utilization;

int nvmlDeviceGetUtilizationRates(Device *device, Utilization *percent) {
    percent->memory = 0;
    return unsigned_number(device, "utilization_percent", &percent->gpu);
}

int nvmlDeviceGetComputeRunningProcesses(Device *device, unsigned *count, void *list) {
    return processes(device, count, list, 1);
}
int nvmlDeviceGetComputeRunningProcesses_v2(Device *device, unsigned *count, void *list) {
    return processes(device, count, list, 2);
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device *device, unsigned *count, void *list) {
    return processes(device, count, list, 3);
}

/* Two GPUs with one `numa_node` are of one node, others are of the system; with `nvlink=1` both, linked by that. */
int nvmlDeviceGetTopologyCommonAncestor(Device *one, Device *other, unsigned *level) {
    unsigned first, second;
    int answer = unsigned_number(one, "numa_node", &first);
    if (answer == SUCCESS) answer = unsigned_number(other, "numa_node", &second);
    if (answer == SUCCESS) *level = first == second ? 40 : 50; /* NVML_TOPOLOGY_NODE, NVML_TOPOLOGY_SYSTEM */
    return answer;
}
int nvmlDeviceGetP2PStatus(Device *one, Device *other, int capability, unsigned *status) {
    unsigned first = 0, second = 0;
    if (capability != 2) return INVALID_ARGUMENT; /* NVML_P2P_CAPS_INDEX_NVLINK */
    unsigned_number(one, "nvlink", &first);
    unsigned_number(other, "nvlink", &second);
    *status = first && second ? 0 : 5; /* NVML_P2P_STATUS_OK, NVML_P2P_STATUS_NOT_SUPPORTED */
    return SUCCESS;
}

int nvmlDeviceIsMigDeviceHandle(Device *device, unsigned *is_mig) {
    *is_mig = device->instance >= 0;
    return SUCCESS;
}
int nvmlDeviceGetMaxMigDeviceCount(Device *device, unsigned *count) {
    unsigned on = 0;
    *count = unsigned_number(device, "mig", &on) == SUCCESS ? INSTANCES : 0;
    return SUCCESS;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Device *device, unsigned index, Device **instance) {
    if (device->instance >= 0 || index >= INSTANCES) return INVALID_ARGUMENT;
    *instance = &devices[device->gpu][index];
    return is_there(*instance) ? SUCCESS : NOT_FOUND;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device *instance, Device **device) {
    if (instance->instance < 0) return INVALID_ARGUMENT;
    *device = &devices[instance->gpu][INSTANCES];
    return SUCCESS;
}
