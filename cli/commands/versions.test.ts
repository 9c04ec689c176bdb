/** The suite knows of which version its target says that it is, and holds that version's law against it. */
import { afterAll, expect, it } from "vitest";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { type ProfileName, profiles } from "../../sim/contract/profile.ts";
import { startWallServer } from "../../sim/http/wall-server.ts";
import { runHere } from "../command-here.fixture.ts";
import { cleanUp } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const only = ["versions.future-exact", "bookmarks.bare", "watch.initial-most-recent", "dry-run.empty"];

it.each<[name: ProfileName, deviations: readonly string[]]>([
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
  const words = ["--profile", "kubernetes", "--level", "quick", "--runs", "2", "--only", only.join(","), "--json"];
  const { code, stdout } = await runHere("conform", server.url, ...words);
  await server.close();
  const report = JSON.parse(stdout) as SuiteReport;
  const found = report.checks.flatMap(({ id, verdict }) =>
    verdict.status === "failed" ? [`${id}: ${verdict.actual}`] : [],
  );
  expect(found).toEqual([]);
  expect(code).not.toBe(1);
  const occurred = report.deviations.filter(({ status }) => status === "occurred").map((row) => row.name);
  expect(occurred.filter((row) => /bookmark|dry-run|exact/.test(row)).sort()).toEqual(deviations);
  expect(report.target.version).toBe(`v1.${profiles[name].release.minor}.${profiles[name].release.patch}+touchstone`);
});
