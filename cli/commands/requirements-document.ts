/** `docs/requirements.md`: made of the tables of requirements, the registry of checks, and the verdicts of the last run. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { allChecks } from "../../conformance/checks/index.ts";
import { readRequirements } from "../../conformance/requirements/rows.ts";
import { catalogueOf } from "../../conformance/runner/catalogue.ts";
import { type LastVerdicts, renderCatalogueMarkdown } from "../../reports/render/catalogue-markdown.ts";
import { outcomeStatuses } from "../../reports/schema/verdict.ts";

const inDocs = (name: string): string => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));

export const documentFile = inDocs("requirements.md");
export const verdictsFile = inDocs("requirements-verdicts.json");

export function requirementsDocument(verdicts: LastVerdicts): string {
  const catalogue = catalogueOf(readRequirements(), allChecks, { only: [], skip: [], law: "observed" });
  return renderCatalogueMarkdown(catalogue, verdicts, { introduction, rootFolder: ".." });
}

/** Of the last run. Throws when the file is not as it should be. */
export function readVerdicts(): LastVerdicts {
  const result = verdictsShape.safeParse(JSON.parse(readFileSync(verdictsFile, "utf8")));
  if (!result.success) throw new Error(`${verdictsFile}: ${z.prettifyError(result.error)}`);
  return result.data;
}

const verdictsShape = z.record(z.string(), z.record(z.string(), z.enum(outcomeStatuses)));

const introduction = `
# Requirements

<!-- Written by \`npm run requirements\`; \`npm run requirements -- --keep-verdicts\` takes the verdicts of the last run. -->

Every clause and every row of a table of the three documents, in our own words, as the rows in
\`conformance/requirements/\` have it. \`npx touchstone conform --list\` prints the same, and \`--list --json\` for programs.

**Level.** \`must\`: a document promises it; the documents have no key words, and what they say that the service does is
read as a promise. \`should\`, \`may\`: they recommend or allow it; no check judges that. \`observed\`: they are silent, and
the known implementation does it. Where their words alone do not say the level, the row says that it is our reading.

**Source.** Number of the document, then section and item; an observation says what was observed. What a document says
that it does not show is no requirement.

**Checks, or why none.** A requirement is judged by URL, and by the same checks in process, when it has checks. Others
say why they have none. \`pending\`: a run could judge it, and no check does yet. \`process\`: only a program that is started
for it shows it. \`simulation\`: only a simulation does. Where a test of the embedded server shows it, the row links to the
test; where none does, nothing shows it yet. \`no\`: nothing can, mostly because it binds somebody else.

**Verdicts.** Of the embedded server in its two profiles, at the level full, with the gates \`WatchList\` and
\`AllowUnsafeMalformedObjectDeletion\` on. A \`deviation\` is declared by the profile, with its
reason.
`;
