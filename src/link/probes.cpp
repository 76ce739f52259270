#include "link/probes.hpp"

#include "link/work.hpp"
#include "program/steps.hpp"
#include "runtime/probe.hpp"

namespace bitale::link {

namespace {

std::string_view kind_of(const program::Program& program, const program::Step& step) {
  using program::OneOf;
  return program::match(
      step, [](const program::Loop&) -> std::string_view { return "loop"; },
      [](const program::If&) -> std::string_view { return "branch"; },
      [](const program::Fill&) -> std::string_view { return "fill"; },
      [](const program::Call&) -> std::string_view { return "call"; },
      [](const program::HostCall&) -> std::string_view { return "perform"; },
      [&](const program::Allocate& s) -> std::string_view {
        return program.buffers[std::size_t(s.buffer)].on_stack ? "scalars" : "memory";
      },
      [](const OneOf<program::Store, program::Accumulate, program::Let, program::Update, program::Check,
                     program::Next> auto&) -> std::string_view { return "scalars"; });
}

bool is_light(std::string_view kind) { return kind == "scalars" || kind == "memory"; }

}  // namespace

std::vector<Section> sections_of(const program::Program& program) {
  std::vector<Section> sections;
  for (std::size_t at = 0; at < program.steps.size(); ++at) {
    const std::string_view kind = kind_of(program, program.steps[at]);
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
    Work work{none, none, none, none, none, !is_light(section.kind)};
    for (std::size_t at = section.begin; at < section.end; ++at) {
      const program::Step& step = program.steps[at];
      if (is_light(section.kind))
        estimate.pass_over(step);
      else
        work = estimate(step);
      out.steps.push_back(step);
    }
    section.counted = work.known;
    if (!work.known) work.bytes = work.flops64 = work.flops32 = none;
    const program::Expr number = pool.integer(std::int64_t(k));
    out.steps.push_back(
        {program::Call{std::string(runtime::probe_name),
                       {number, work.bytes, work.flops64, work.flops32, work.steps, work.trace_bytes}}});
  }
  return out;
}

}  // namespace bitale::link
