// What the tests talk about: a conversation with facts, and summaries that keep or drop them.

/** The oldest messages are what a compaction replaces; these words fill what it keeps. */
const FILLER = "Tell me about clouds in general terms, please. ".repeat(30);

/**
 * Five prompts. The ticket, the limit and the rule stand in the first three. The fourth is the last that is replaced: the
 * gateway's own guard puts that one into the summary.
 * @param {string} project a name that occurs nowhere else, so that requests can be told apart
 */
export function prompts(project) {
  return [
    `Project ${project}: use Postgres 16. Never deploy on Fridays.`,
    `The ticket for ${project} is ${ticket(project)}.`,
    `Remember for ${project}: the API rate limit is 350 requests per minute.`,
    `Thanks, that is all about ${project} today.`,
    `${project} aside: ${FILLER}`,
  ];
}

/** @param {string} project */
export function ticket(project) {
  return `${project.slice(0, 3).toUpperCase()}-${(project.length * 577) % 9000}`;
}

/** Drops the ticket, the limit and the rule. @param {string} project */
export function lossySummary(project) {
  return summary(`${project}: use Postgres 16.`, "None.", "None.");
}

/** Keeps all three. @param {string} project */
export function faithfulSummary(project) {
  const rules = `Never deploy on Fridays.\nRemember for ${project}: the API rate limit is 350 requests per minute.`;
  return summary(`Project ${project}: use Postgres 16.`, rules, `The ticket for ${project} is ${ticket(project)}.`);
}

/** Headings and nothing else: what an empty summary looks like here, as the gateway itself refuses one without words. */
export function emptySummary() {
  return summary("None.", "None.", "None.");
}

/** @param {string} decisions @param {string} rules @param {string} identifiers */
function summary(decisions, rules, identifiers) {
  return (
    `## Decisions\n${decisions}\n\n## Open TODOs\nNone.\n\n## Constraints/Rules\n${rules}\n\n` +
    `## Pending user asks\nNone.\n\n## Exact identifiers\n${identifiers}\n`
  );
}
