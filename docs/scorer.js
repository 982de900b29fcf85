// Pages of the guide come before proofs and the reference in the search's results.
var Scorer = {
  score: (result) => result[4] + (result[0].startsWith("guide/") ? 10 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
