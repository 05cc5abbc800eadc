/* GPUs that are folders of text files: what the stand-ins for NVIDIA's libraries (nvml.c, cuda.c) have in common.

tests/gpu/pretended.py makes the folders and says what they hold. Nothing is kept between two calls but handles, so that
a test may change a file while something runs. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { GPUS = 16, INSTANCES = 7, TEXT = 512 };
enum { SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
       DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15, UNKNOWN = 999 };
#define NOT_AVAILABLE (~0ULL) /* NVML_VALUE_NOT_AVAILABLE */

static const struct { int code; const char *name, *text; } ERRORS[] = {
    {1, "UNINITIALIZED", "Uninitialized"},
    {2, "INVALID_ARGUMENT", "Invalid Argument"},
    {3, "NOT_SUPPORTED", "Not Supported"},
    {4, "NO_PERMISSION", "Insufficient Permissions"},
    {6, "NOT_FOUND", "Not Found"},
    {7, "INSUFFICIENT_SIZE", "Insufficient Size"},
    {8, "INSUFFICIENT_POWER", "Insufficient External Power"},
    {9, "DRIVER_NOT_LOADED", "Driver Not Loaded"},
    {10, "TIMEOUT", "Timeout"},
    {11, "IRQ_ISSUE", "Interrupt Request Issue"},
    {12, "LIBRARY_NOT_FOUND", "NVML Shared Library Not Found"},
    {13, "FUNCTION_NOT_FOUND", "Function Not Found"},
    {15, "GPU_IS_LOST", "GPU is lost"},
    {16, "RESET_REQUIRED", "GPU requires reset"},
    {17, "OPERATING_SYSTEM", "The operating system has blocked the request."},
    {18, "LIB_RM_VERSION_MISMATCH", "RM has detected an NVML/RM version mismatch."},
    {19, "IN_USE", "Device is currently in use"},
    {20, "MEMORY", "Insufficient Memory"},
    {999, "UNKNOWN", "Unknown Error"},
};

/* A GPU, or one of its MIG devices; the address is NVML's handle. */
typedef struct { int gpu, instance; } Device;

static Device devices[GPUS][INSTANCES + 1];
static int opened;

/* ---- the folders ---- */

static void path_of(const Device *device, const char *file, char *path) {
    const char *root = getenv("BAKEOFF_PRETENDED_GPUS");
    if (device->instance < 0)
        snprintf(path, TEXT, "%s/%d/%s", root, device->gpu, file);
    else
        snprintf(path, TEXT, "%s/%d/mig/%d/%s", root, device->gpu, device->instance, file);
}

static int error_named(const char *name) {
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (!strcmp(ERRORS[i].name, name)) return ERRORS[i].code;
    return UNKNOWN;
}

/* Find `key=value` in a file; a value `error:NAME` is that error, a key that is missing is NOT_SUPPORTED. */
static int in_file(const char *path, const char *key, char *value) {
    char line[TEXT];
    int answer = NOT_SUPPORTED;
    FILE *file = fopen(path, "r");
    if (!file) return GPU_IS_LOST;
    while (fgets(line, TEXT, file)) {
        size_t length = strcspn(line, "=");
        if (strlen(key) != length || strncmp(line, key, length)) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(value, TEXT, "%s", line + length + 1);
        answer = strncmp(value, "error:", 6) ? SUCCESS : error_named(value + 6);
    }
    fclose(file);
    return answer;
}

static int system_says(const char *key, char *value) {
    char path[TEXT];
    snprintf(path, TEXT, "%s/system.txt", getenv("BAKEOFF_PRETENDED_GPUS"));
    int answer = in_file(path, key, value);
    return answer == GPU_IS_LOST ? NOT_SUPPORTED : answer;
}

static int text(const Device *device, const char *key, char *value) {
    char path[TEXT];
    if (!opened) return UNINITIALIZED;
    path_of(device, "gpu.txt", path);
    int answer = in_file(path, "all", value);
    return answer == NOT_SUPPORTED ? in_file(path, key, value) : answer;
}

static int number(const Device *device, const char *key, unsigned long long *value) {
    char found[TEXT];
    int answer = text(device, key, found);
    if (answer == SUCCESS) *value = strtoull(found, NULL, 0);
    return answer;
}

static int unsigned_number(const Device *device, const char *key, unsigned *value) {
    unsigned long long found = 0;
    int answer = number(device, key, &found);
    if (answer == SUCCESS) *value = (unsigned)found;
    return answer;
}

static int copied(const char *value, char *buffer, unsigned length) {
    if (strlen(value) >= length) return INSUFFICIENT_SIZE;
    strcpy(buffer, value);
    return SUCCESS;
}

static int text_into(const Device *device, const char *key, char *buffer, unsigned length) {
    char found[TEXT];
    int answer = text(device, key, found);
    return answer == SUCCESS ? copied(found, buffer, length) : answer;
}

static int is_there(const Device *device) {
    char path[TEXT];
    struct stat status;
    path_of(device, "gpu.txt", path);
    return !stat(path, &status);
}

static unsigned gpus(void) {
    unsigned count = 0;
    while (count < GPUS && is_there(&devices[count][INSTANCES])) count++;
    return count;
}

/* ---- the processes on a GPU ---- */

static int is_alive(int pid) {
    char path[TEXT], line[TEXT] = "", *end;
    if (kill(pid, 0) && errno != EPERM) return 0;
    snprintf(path, TEXT, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return access("/proc/self", F_OK) != 0; /* a system without /proc */
    if (!fgets(line, TEXT, file)) line[0] = 0;
    fclose(file);
    end = strrchr(line, ')');
    return end && end[1] == ' ' && end[2] != 'Z'; /* one that has ended, and was not waited for yet, holds nothing */
}

typedef void Visit(int pid, unsigned long long bytes, void *context);

static void visit_folder(const Device *device, Visit *visit, void *context) {
    char folder[TEXT], path[2 * TEXT];
    path_of(device, "processes", folder);
    DIR *listing = opendir(folder);
    if (!listing) return;
    for (struct dirent *entry; (entry = readdir(listing));) {
        unsigned long long bytes;
        int pid = atoi(entry->d_name);
        if (pid <= 0 || !is_alive(pid)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        if (fscanf(file, "%llu", &bytes) == 1) visit(pid, bytes, context);
        fclose(file);
    }
    closedir(listing);
}

/* A GPU's processes are its own and those of its MIG devices. */
static void visit_processes(const Device *device, Visit *visit, void *context) {
    visit_folder(device, visit, context);
    if (device->instance < 0)
        for (int i = 0; i < INSTANCES; i++) visit_folder(&devices[device->gpu][i], visit, context);
}

static void add(int pid, unsigned long long bytes, void *total) {
    (void)pid;
    *(unsigned long long *)total += bytes;
}

static int memory(const Device *device, unsigned long long *total, unsigned long long *used) {
    int answer = number(device, "memory_total_bytes", total);
    *used = 0;
    if (answer != SUCCESS) return answer;
    number(device, "memory_other_bytes", used);
    visit_processes(device, add, used);
    if (*used > *total) *used = *total;
    return SUCCESS;
}

static int open_gpus(void) {
    char value[TEXT];
    if (!getenv("BAKEOFF_PRETENDED_GPUS")) return DRIVER_NOT_LOADED;
    int answer = system_says("init", value);
    if (answer != SUCCESS && answer != NOT_SUPPORTED) return answer;
    for (int gpu = 0; gpu < GPUS; gpu++) {
        for (int i = 0; i < INSTANCES; i++) devices[gpu][i] = (Device){gpu, i};
        devices[gpu][INSTANCES] = (Device){gpu, -1};
    }
    opened++;
    return SUCCESS;
}
