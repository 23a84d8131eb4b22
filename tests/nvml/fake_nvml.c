/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces libnvidia-ml.so.1, with its C interface and its own ABI. Three cards: one counts energy, one reports
   only power, one reports nothing. The values come from the environment. FAKE_NVML_SAMPLES: samples of the first
   card, each "PID TIME SM ENCODER;"; the second does not report who uses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int nvmlReturn_t; /* 0: success, 3: not supported */
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;

static const char *const kBusIds[] = {"00000000:65:00.0", "00000000:17:00.0", "00000000:B3:00.0"};

static unsigned index_of(nvmlDevice_t device) { return (unsigned)(unsigned long)device - 1; }
static unsigned long long number(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : strtoull(text, NULL, 10);
}

nvmlReturn_t nvmlInit_v2(void) { return (nvmlReturn_t)number("FAKE_NVML_INIT"); }
nvmlReturn_t nvmlShutdown(void) { return 0; }
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
  *count = 3;
  return 0;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
  *device = (nvmlDevice_t)(unsigned long)(index + 1);
  return 0;
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
  memset(pci, 0, sizeof *pci);
  strcpy(pci->busId, kBusIds[index_of(device)]);
  return 0;
}
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy) {
  *energy = number("FAKE_NVML_MILLIJOULES");
  return index_of(device) == 0 ? 0 : 3;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power) {
  *power = (unsigned)number("FAKE_NVML_MILLIWATTS");
  return index_of(device) == 2 ? 3 : 0;
}

typedef struct {
  unsigned int pid;
  unsigned long long timeStamp;
  unsigned int smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                             unsigned int *count, unsigned long long last) {
  const char *text = getenv("FAKE_NVML_SAMPLES");
  unsigned int found = 0;
  nvmlProcessUtilizationSample_t one;
  memset(&one, 0, sizeof one);
  if (index_of(device) != 0) return 3;
  while (text != NULL && sscanf(text, "%u %llu %u %u;", &one.pid, &one.timeStamp, &one.smUtil, &one.encUtil) == 4) {
    text = strchr(text, ';') + 1;
    if (one.timeStamp <= last) continue;
    if (samples != NULL && found < *count) samples[found] = one;
    ++found;
  }
  if (found == 0) return 6;
  if (samples == NULL || *count < found) {
    *count = found;
    return 7;
  }
  *count = found;
  return 0;
}
