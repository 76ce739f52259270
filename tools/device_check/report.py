"""The report as a table in Markdown."""

from __future__ import annotations

from typing import Any


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f}" if seconds >= 1e-5 else f"{seconds * 1e6:.1f}"


def megabytes(memory: dict[str, int]) -> str:
    return f"{sum(memory.values()) / 1e6:,.0f}"


HEADER = """| workload | dtype | `jax.numpy`, us | `as_jax` | mode JAX | mode JAX, NumPy | bandwidth | memory, MB | native, us | times native |
|---|---|---|---|---|---|---|---|---|---|"""


def line(row: dict[str, Any]) -> str:
    name = f"| {row['workload']}, {' × '.join(map(str, row['sizes']))} | {row['dtype']} |"
    if "seconds" not in row:
        return f"{name} {row.get('left out') or row.get('failure', '').splitlines()[0][:120]} | | | | | | | |"
    ratios = " | ".join(
        f"{row['ratio'][each]:.2f}" for each in ("as_jax", "mode JAX", "mode JAX, NumPy")
    )
    memory = f"{megabytes(row['memory']['as_jax'])} of {megabytes(row['memory']['jax.numpy'])}"
    share = f"{100 * row['share of bandwidth']['as_jax']:.0f} %"
    wrong = "" if row["agrees"] else " **differs**"
    return (
        f"{name} {microseconds(row['seconds']['jax.numpy'])} | {ratios} | {share} | {memory} | "
        f"{microseconds(row['native seconds'])} | {row['times native']:,.0f}{wrong} |"
    )


def table(report: dict[str, Any]) -> str:
    machine, limits = report["machine"], report["limits"]
    sheet = (
        f", {limits['data sheet'] / 1e12:.2f} TB/s by its data sheet"
        if limits["data sheet"]
        else ""
    )
    lines = [
        f"{machine['device']} ({machine['driver']}), jax {machine['jax']}, on {machine['processors']} processors "
        f"{machine['processor']}; a copy moves {limits['copy'] / 1e12:.3g} TB/s{sheet}",
        "",
        HEADER,
        *(line(row) for row in report["workloads"]),
    ]
    if updates := report.get("updates"):
        lines.append("")
        lines.append(
            f"updates: transfers {updates['transfers']}, {updates['ratio']:.2f} of jax.numpy's "
            f"{microseconds(updates['seconds']['jax.numpy'])} us, error {updates['error']:.1e}"
            if "ratio" in updates
            else f"updates: {updates}"
        )
    if tests := report.get("tests"):
        lines.append(
            ", ".join(f"{name} {count}" for name, count in tests.items() if name != "failures")
        )
        lines += [f"failed: {name}" for name in tests["failures"]]
    return "\n".join(lines)
