// SPDX-License-Identifier: GPL-2.0
// For tests only: RAPL as the kernel shows it, without the processor's registers. Zones of the kernel's own powercap
// class, with the names of intel_rapl, and a PMU "power", with the events of arch/x86/events/rapl.c. What they count is
// what the test writes into the parameters, in /sys/module/test_rapl/parameters.
//
// A module of Linux, and therefore under its licence; nothing of keplerd is linked with it.
#include <linux/init.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/powercap.h>
#include <linux/slab.h>

enum { PACKAGE_0, PACKAGE_1, PSYS, CORE, DRAM, ZONES };

// The zones that exist, and those whose counter cannot be read (EIO), by bit.
static unsigned int present = 1 << PACKAGE_0 | 1 << PACKAGE_1 | 1 << CORE | 1 << DRAM;
static unsigned int failing;
module_param(failing, uint, 0600);

// Microjoules that were used since the beginning, of which a counter shows the rest after division by its range.
static unsigned long long used[ZONES];
module_param_array(used, ullong, NULL, 0600);
static unsigned long long range[ZONES] = {262143328850ull, 262143328850ull, 262143328850ull, 262143328850ull,
					  65712999613ull};
module_param_array(range, ullong, NULL, 0600);

struct rapl_zone {
	struct powercap_zone powercap;
	int number;
};

static const char *const names[ZONES] = {"package-0", "package-1", "psys", "core", "dram"};
static const int parents[ZONES] = {-1, -1, -1, PACKAGE_0, PACKAGE_0};

static struct powercap_control_type *rapl;
static struct rapl_zone *zones[ZONES];
static DEFINE_MUTEX(lock);

static int get_range(struct powercap_zone *powercap, u64 *value)
{
	*value = range[container_of(powercap, struct rapl_zone, powercap)->number];
	return 0;
}

static int get_energy(struct powercap_zone *powercap, u64 *value)
{
	const int number = container_of(powercap, struct rapl_zone, powercap)->number;

	if (failing & 1 << number)
		return -EIO;
	*value = used[number] % (range[number] + 1);
	return 0;
}

static int release(struct powercap_zone *powercap)
{
	kfree(container_of(powercap, struct rapl_zone, powercap));
	return 0;
}

static const struct powercap_zone_ops operations = {
	.get_max_energy_range_uj = get_range,
	.get_energy_uj = get_energy,
	.release = release,
};

// The kernel wants a limit; nobody here sets it.
static int get_number(struct powercap_zone *powercap, int id, u64 *value)
{
	*value = 0;
	return 0;
}

static int set_number(struct powercap_zone *powercap, int id, u64 value)
{
	return -EPERM;
}

static const char *get_name(struct powercap_zone *powercap, int id)
{
	return "long_term";
}

static const struct powercap_zone_constraint_ops constraint = {
	.set_power_limit_uw = set_number,
	.get_power_limit_uw = get_number,
	.set_time_window_us = set_number,
	.get_time_window_us = get_number,
	.get_name = get_name,
};

static int add_zone(int number)
{
	struct powercap_zone *parent = NULL, *added;
	struct rapl_zone *zone = kzalloc(sizeof(*zone), GFP_KERNEL);

	if (!zone)
		return -ENOMEM;
	zone->number = number;
	if (parents[number] >= 0 && zones[parents[number]])
		parent = &zones[parents[number]]->powercap;
	added = powercap_register_zone(&zone->powercap, rapl, names[number], parent, &operations, 1,
				       &constraint);
	if (IS_ERR(added))
		return PTR_ERR(added); // has released it, or never will
	zones[number] = zone;
	return 0;
}

// Children go first, and come last: they have the higher numbers.
static int show_zones(unsigned int wanted)
{
	int number, result = 0;

	mutex_lock(&lock);
	for (number = ZONES - 1; number >= 0; --number) {
		if (zones[number] && !(wanted & 1 << number)) {
			powercap_unregister_zone(rapl, &zones[number]->powercap);
			zones[number] = NULL;
		}
	}
	for (number = 0; number < ZONES && !result; ++number)
		if (!zones[number] && wanted & 1 << number)
			result = add_zone(number);
	mutex_unlock(&lock);
	return result;
}

static int set_present(const char *text, const struct kernel_param *parameter)
{
	const int result = param_set_uint(text, parameter);

	return result || !rapl ? result : show_zones(present);
}
static const struct kernel_param_ops present_operations = {.set = set_present, .get = param_get_uint};
module_param_cb(present, &present_operations, &present, 0600);

// The PMU. A unit is 2^-32 J, as on processors; there is a counter for each package, which one processor of it shows.
enum { EVENT_CORES = 1, EVENT_PACKAGE = 2, EVENT_DRAM = 3 };

static u64 counted(const struct perf_event *event)
{
	const int package = topology_physical_package_id(event->cpu);
	u64 joules, rest;
	int number = package == 0 ? PACKAGE_0 : PACKAGE_1;

	if (event->attr.config != EVENT_PACKAGE) {
		if (package != 0)
			return 0; // all memory is that of the first one
		number = event->attr.config == EVENT_DRAM ? DRAM : CORE;
	}
	joules = div64_u64_rem(used[number], 1000000, &rest);
	return (joules << 32) + div64_u64(rest << 32, 1000000);
}

static void update(struct perf_event *event)
{
	const u64 now = counted(event);

	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static void start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, counted(event));
}

static void stop(struct perf_event *event, int flags)
{
	update(event);
}

static int add(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_START)
		start(event, flags);
	return 0;
}

static struct pmu pmu;

static int init_event(struct perf_event *event)
{
	if (event->attr.type != pmu.type)
		return -ENOENT;
	if (event->cpu < 0 || event->attr.sample_period || event->attr.config < EVENT_CORES ||
	    event->attr.config > EVENT_DRAM)
		return -EINVAL;
	return 0;
}

PMU_FORMAT_ATTR(event, "config:0-7");
static struct attribute *format[] = {&format_attr_event.attr, NULL};
static const struct attribute_group format_group = {.name = "format", .attrs = format};

PMU_EVENT_ATTR_STRING(energy-pkg, energy_pkg, "event=0x02");
PMU_EVENT_ATTR_STRING(energy-pkg.unit, energy_pkg_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-pkg.scale, energy_pkg_scale, "2.3283064365386962890625e-10");
PMU_EVENT_ATTR_STRING(energy-ram, energy_ram, "event=0x03");
PMU_EVENT_ATTR_STRING(energy-ram.unit, energy_ram_unit, "Joules");
PMU_EVENT_ATTR_STRING(energy-ram.scale, energy_ram_scale, "2.3283064365386962890625e-10");
static struct attribute *events[] = {
	&energy_pkg.attr.attr,	     &energy_pkg_unit.attr.attr, &energy_pkg_scale.attr.attr,
	&energy_ram.attr.attr,	     &energy_ram_unit.attr.attr, &energy_ram_scale.attr.attr, NULL};
static const struct attribute_group events_group = {.name = "events", .attrs = events};

static ssize_t cpumask_show(struct device *device, struct device_attribute *attribute, char *text)
{
	cpumask_t mask;
	int cpu, seen = 0;

	cpumask_clear(&mask);
	for_each_online_cpu(cpu) {
		const int package = topology_physical_package_id(cpu);

		if (package < 32 && !(seen & 1 << package))
			cpumask_set_cpu(cpu, &mask);
		seen |= 1 << package;
	}
	return cpumap_print_to_pagebuf(true, text, &mask);
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *masks[] = {&dev_attr_cpumask.attr, NULL};
static const struct attribute_group masks_group = {.attrs = masks};

static const struct attribute_group *groups[] = {&format_group, &events_group, &masks_group, NULL};

static struct pmu pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.attr_groups = groups,
	.event_init = init_event,
	.add = add,
	.del = stop,
	.start = start,
	.stop = stop,
	.read = update,
	.capabilities = PERF_PMU_CAP_NO_EXCLUDE,
};

static int __init begin(void)
{
	int result;

	rapl = powercap_register_control_type(NULL, "intel-rapl", NULL);
	if (IS_ERR(rapl))
		return PTR_ERR(rapl);
	result = show_zones(present);
	if (!result)
		result = perf_pmu_register(&pmu, "power", -1);
	if (result) {
		show_zones(0);
		powercap_unregister_control_type(rapl);
	}
	return result;
}

static void __exit end(void)
{
	perf_pmu_unregister(&pmu);
	show_zones(0);
	powercap_unregister_control_type(rapl);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("RAPL for tests");
MODULE_LICENSE("GPL");
