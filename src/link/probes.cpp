#include "link/probes.hpp"

#include "link/work.hpp"
#include "runtime/probe.hpp"

namespace bitale::link {

namespace {

struct KindOf {
  const program::Program& program;
  std::string_view operator()(const program::Loop&) const { return "loop"; }
  std::string_view operator()(const program::Fill&) const { return "fill"; }
  std::string_view operator()(const program::Call&) const { return "call"; }
  std::string_view operator()(const program::HostCall&) const { return "perform"; }
  std::string_view operator()(const program::Allocate& step) const {
    return program.buffers[std::size_t(step.buffer)].on_stack ? "scalars" : "memory";
  }
  template <class Simple>
  std::string_view operator()(const Simple&) const {
    return "scalars";
  }
};

bool is_light(std::string_view kind) { return kind == "scalars" || kind == "memory"; }

}  // namespace

std::vector<Section> sections_of(const program::Program& program) {
  std::vector<Section> sections;
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    const std::string_view kind = std::visit(KindOf{program}, program.steps[at].what);
    if (is_light(kind) && !sections.empty() && sections.back().kind == kind)
      sections.back().end = at + 1;
    else
      sections.push_back({kind, at, at + 1});
  }
  return sections;
}

program::Program with_probes(const program::Program& program, std::vector<Section>& sections) {
  program::Program out = program;
  out.steps.clear();
  program::ExprPool& pool = *program.pool;
  const program::Expr none = pool.integer(0);
  WorkEstimate estimate(program);
  for (std::size_t k = 0; k < sections.size(); ++k) {
    Section& section = sections[k];
    Work work{none, none, none, !is_light(section.kind)};
    for (std::size_t at = section.begin; at < section.end; ++at) {
      const program::Step& step = program.steps[at];
      if (is_light(section.kind))
        estimate.pass_over(step);
      else
        work = estimate(step);
      out.steps.push_back(step);
    }
    section.counted = work.known;
    if (!work.known) work = {none, none, none};
    const program::Expr number = pool.integer(std::int64_t(k));
    out.steps.push_back(
        {program::Call{std::string(runtime::probe_name), {number, work.bytes, work.flops64, work.flops32}}});
  }
  return out;
}

}  // namespace bitale::link
