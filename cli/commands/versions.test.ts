/** The suite knows of which version its target says that it is, and holds that version's law against it. */
import { expect, it } from "vitest";
import { type ProfileName, profiles } from "../../sim/contract/profile.ts";
import { startWallServer } from "../../sim/http/wall-server.ts";
import { runSuiteOn } from "../targets/suite-target.ts";

const only = [
  "versions.future-exact",
  "bookmarks.bare",
  "watch.initial-most-recent",
  "dry-run.empty",
  "names.rule-of-type",
];

// They mostly wait, for versions that do not come: together.
it.concurrent.each<[name: ProfileName, deviations: readonly string[]]>([
  ["kubernetes-1.33", ["bookmark-has-empty-fields", "empty-dry-run-refused", "exact-future-is-500"]],
  ["kubernetes-1.36", ["empty-dry-run-refused"]],
])("%s", async (name, deviations) => {
  const server = await startWallServer({
    seed: "1",
    port: 0,
    bindAddress: "127.0.0.1",
    profile: profiles[name],
    tokens: [],
    anonymousAuth: true,
    onError: (error) => {
      throw error;
    },
  });
  const target = { kind: "url", url: server.url, connection: { insecureSkipTlsVerify: false } } as const;
  const report = await runSuiteOn(target, { profile: "kubernetes", seed: 1, level: "quick", runs: 2, only });
  await server.close();
  const found = report.checks.flatMap(({ id, verdict }) =>
    verdict.status === "failed" ? [`${id}: ${verdict.actual}`] : [],
  );
  expect(found).toEqual([]);
  expect(report.conclusion).not.toBe("nonconformant");
  const occurred = report.deviations.filter(({ status }) => status === "occurred").map((row) => row.name);
  expect(occurred.filter((row) => /bookmark|dry-run|exact/.test(row)).sort()).toEqual(deviations);
  expect(report.target.version).toBe(`v1.${profiles[name].release.minor}.${profiles[name].release.patch}+touchstone`);
});
