import { expect, it } from "vitest";
import { run } from "../spawned-command.fixture.ts";

it.each([
  ["a program without such flags", "echo usage: --verbose #"],
  ["one that says nothing", "true"],
  ["none at all", "no-such-program"],
])("conform --agent with %s says so, and judges nothing", async (_, command) => {
  const { code, stdout, stderr } = await run("conform", "--agent", command);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toMatch(/is no node agent: with --help it should list --container-runtime-endpoint, and said/);
});
