// SPDX-License-Identifier: Apache-2.0
#include "exporter/metrics/render.h"

#include "exporter/metrics/families.h"

namespace keplerd::exporter {
namespace {

void write_left_out(const Rendered& rendered, Exposition& out) {
  out.begin({"keplerd_exporter_rows_left_out", MetricType::kGauge, "",
             "Rows that are not exported because there are too many series of their kind"});
  for (const Kind kind : {Kind::kUnits, Kind::kVms, Kind::kContainers, Kind::kPods}) {
    out.add_count(label_text({{"kind", name_of(kind)}}),
                  static_cast<std::int64_t>(rendered.left_out[index_of(kind)]));
  }
}

}  // namespace

Rendered render_metrics(const RenderInput& input, Format format) {
  Rendered rendered;
  Exposition out(format, input.expected_size);
  write_daemon(input, out);
  write_host(input, out);
  write_platform(input, out);
  write_rates(input, out);
  write_budgets(input, out);
  write_node(input, out);
  rendered.left_out[index_of(Kind::kVms)] = write_vms(input, out);
  rendered.left_out[index_of(Kind::kUnits)] = write_units(input, out);
  rendered.left_out[index_of(Kind::kContainers)] = write_containers(input, out);
  rendered.left_out[index_of(Kind::kPods)] = write_pods(input, out);
  write_processes(input, out);
  write_left_out(rendered, out);
  write_exporter(input, out);
  rendered.text = out.finish();
  return rendered;
}

}  // namespace keplerd::exporter
