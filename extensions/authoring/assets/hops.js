// The pass rate by the number of dependent calls, as a card of the overview.

OVERVIEW_PARTS.push((run) => run.hops && breakdownCard(run.hops));
