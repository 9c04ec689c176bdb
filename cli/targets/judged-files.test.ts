/** The suite by URL against `serve`, started with the files that it prints. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePort } from "../../conformance/client/free-port.ts";
import { cleanUp, scratch, scratchFile, start } from "../spawned-command.fixture.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";

afterAll(cleanUp);

const folder = join(scratch, "files");
const port = await freePort();
const addresses = ["--token-issuer", `127.0.0.1:${port}`, "--authorizer-address", `127.0.0.1:${port}`];
const files = ["--access-files", folder];

test("a server that is started with the printed files is judged by them", async () => {
  const printed = await runHere("conform", "--print-config", ...addresses, ...files);
  expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining("kind: AuthorizationConfiguration") });
  const serve = start(
    ...["serve", "--port", "0", "--authentication-config", join(folder, "authentication.yaml")],
    ...["--authorization-config", join(folder, "authorization.yaml")],
    ...["--token-auth-file", scratchFile("tokens.csv", 'suite,admin,u1,"system:masters"\n')],
  );
  const url = (await serve.firstLine).replace("serving on ", "");
  const judged = [
    "--only",
    "tokens-are-*,forged-*,keys-are-*,keys-of-*,anonymous-callers-*,authorizers-are-*",
    "--runs",
    "1",
  ];
  const conform = ["conform", url, "--token", "suite", ...judged, "--json"];
  const run = await runHere(...conform, ...addresses, ...files);
  const { totals } = JSON.parse(run.stdout) as { totals: { requirements: { passed: number; failed: number } } };
  expect(run.code).toBe(0);
  expect(totals.requirements).toMatchObject({ failed: 0, error: 0, inconclusive: 0, unsupported: 0 });
  expect(totals.requirements.passed).toBeGreaterThanOrEqual(33);
});

test("without them what they would show is unsupported, with the reason", async () => {
  const serve = start("serve", "--port", "0", "--anonymous-auth=true");
  const url = (await serve.firstLine).replace("serving on ", "");
  const run = await runHere("conform", url, "--only", "anonymous-callers-*,decisions-*", "--json");
  expect(run.code).toBe(3);
  expect(run.stdout).toContain("nobody said how the target can reach the suite as an issuer: --token-issuer");
});

test.each([
  [["--print-config", "--access-files", folder], "say how the server reaches the suite"],
  [["--print-config", ...addresses], "give --access-files DIR"],
  [["--print-config", "--token-issuer", "10.0.0.1", ...files], "give 10.0.0.1:PORT"],
  [["http://127.0.0.1:1", ...addresses], "give --access-files DIR"],
  [["http://127.0.0.1:1", ...files], "nothing would be served"],
  [["http://127.0.0.1:1", ...addresses, "--access-files", join(scratch, "none")], "Make the files first"],
  [["http://127.0.0.1:1", "--token-issuer", "other.test:4443", ...files], "not good for it"],
  [addresses, "is for a server at a URL"],
])("conform %j is refused: %s", async (flags, why) => {
  expect(await refusalHere("conform", ...flags)).toContain(why);
});
