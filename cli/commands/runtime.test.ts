import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, describe, expect, it } from "vitest";
import { decodeMessage, encodeMessage } from "../../sim/grpc/cri-codec.ts";
import { criMethod, type CriMessageOf, type CriMethod, type CriMethodRow, type CriRequestOf } from "../../wire/cri.ts";
import { saidHere } from "../said-here.fixture.ts";
import { cleanUp, scratch, scratchFile, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const socket = join(scratch, "cri.sock");
const listen = `unix://${socket}`;

function ask<M extends CriMethod>(method: M, message: CriRequestOf<M>, at = listen): Promise<CriMessageOf<M>> {
  const row = criMethod(method) as CriMethodRow;
  const client = new Client(at, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${row.service}/${method}`,
      (sent: object) => encodeMessage(row.request, sent),
      (bytes: Buffer) => decodeMessage(row.response, bytes) as CriMessageOf<M>,
      message,
      (error, answer) => {
        client.close();
        if (error === null) resolve(answer as CriMessageOf<M>);
        else reject(error);
      },
    );
  });
}

describe("touchstone runtime", () => {
  it.each([
    ["a file", () => `unix://${scratchFile("file.txt", "precious")}`, "is there, and is no socket"],
    ["a folder", () => `unix://${scratch}`, "is there, and is no socket"],
    ["a path that is not whole", () => "unix://file.sock", "write unix:///path/of/the.sock."],
  ])("refuses %s as its socket, and leaves it as it is", async (_, listenAt, why) => {
    const { code, stderr } = await saidHere("runtime", "--listen", listenAt());
    expect(code).toBe(2);
    expect(stderr).toContain(why);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    if (existsSync(join(scratch, "file.txt"))) expect(readFileSync(join(scratch, "file.txt"), "utf8")).toBe("precious");
  });

  it.each([
    [["runtime"], "runtime needs --listen, the socket of the runtime: touchstone runtime --listen unix:///"],
    [["runtime", "--memory", "8Gi"], "runtime needs --listen"],
    [
      ["runtime", "set"],
      "runtime set needs --listen, the socket of the runtime: touchstone runtime set --listen unix:///",
    ],
    [["runtime", "--listen", listen, "--memory", "0"], "--memory 0: there has to be some"],
    [["runtime", "--listen", listen, "--cpu", "0m"], "--cpu 0m: there has to be some"],
    [["runtime", "--listen", listen, "--image-disk", "0"], "--image-disk 0: there has to be some"],
    [["runtime", "set", "--listen", listen], "nothing is to be changed"],
    [["runtime", "set", "--listen", listen, "--pod", "default/web"], "nothing is to be changed"],
    [["runtime", "set", "--listen", listen, "--memory", "5Mi"], "no runtime answers there. Start one with: touchstone"],
    [["config", "chek"], "Did you mean `check`?"],
    [["config", "check", "--memroy", "8Gi"], "Did you mean `--memory`?\nSee `touchstone config check --help`."],
    [
      ["config"],
      "config needs to be told what to do.\nThe commands are check, schema.\nSee `touchstone config --help`.",
    ],
  ])("%j is one error that says what to do", async (args, says) => {
    const { code, stdout, stderr } = await saidHere(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
    expect(stderr).not.toContain("Resolution note");
    expect(existsSync(socket)).toBe(false);
  });

  it("carries out nothing that cannot be written down, and goes on when there is room again", async () => {
    const path = join(scratch, "full.sock");
    const at = `unix://${path}`;
    const first = start("runtime", "--listen", at);
    await first.firstLine;
    const make = (uid: string): Promise<{ podSandboxId: string }> =>
      ask("RunPodSandbox", { config: { metadata: { name: uid, namespace: "default", uid } } }, at);
    const { podSandboxId } = await make("a");
    const written = readFileSync(`${path}.state`);
    // Its files may grow by half a line, as on a full disk.
    const room = (bytes: number | "unlimited"): unknown =>
      execFileSync("prlimit", ["--pid", String(first.child.pid), `--fsize=${bytes}:unlimited`]);
    room(written.length + 20);
    await expect(make("b")).rejects.toThrow("file too large");
    expect(readFileSync(`${path}.state`)).toEqual(written);
    room("unlimited");
    const { podSandboxId: next } = await make("c");
    first.child.kill("SIGKILL");
    await first.ended;

    const second = start("runtime", "--listen", at);
    await second.firstLine;
    const { items } = await ask("ListPodSandbox", {}, at);
    expect(new Set(items.map(({ id }) => id))).toEqual(new Set([podSandboxId, next]));
    second.child.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
  });

  it("serves until it is killed, and its containers go on in the next process; set changes it", {
    timeout: 60_000,
  }, async () => {
    const images = join(scratch, "images.yaml");
    writeFileSync(images, "images:\n  - { name: local/box:1, present: true }\n");
    const args = ["runtime", "--listen", listen, "--images", images, "--memory", "8Gi", "--runtime-handler", "gvisor"];
    const first = start(...args);
    expect(await first.firstLine).toBe(`serving on ${listen}`);
    const metadata = { name: "p", namespace: "default", uid: "u" };
    const { podSandboxId } = await ask("RunPodSandbox", { config: { metadata }, runtimeHandler: "gvisor" });
    expect((await ask("Status", {})).runtimeHandlers.map(({ name }) => name)).toEqual(["", "gvisor"]);
    await expect(ask("RunPodSandbox", { config: { metadata }, runtimeHandler: "other" })).rejects.toThrow(
      'no runtime for "other" is configured',
    );
    const config = {
      metadata: { name: "c" },
      image: { image: "local/box:1" },
      command: ["sh", "-c", "touch /tmp/x; sleep 1000"],
    };
    const { containerId } = await ask("CreateContainer", { podSandboxId, config });
    await ask("StartContainer", { containerId });
    const { status } = await ask("ContainerStatus", { containerId });
    first.child.kill("SIGKILL");
    await first.ended;

    const second = start(...args);
    await second.firstLine;
    expect((await ask("ContainerStatus", { containerId })).status).toEqual(status);
    expect((await ask("ExecSync", { containerId, cmd: ["ls", "/tmp"] })).exitCode).toBe(0);
    const usage = join(scratch, "usage.csv");
    writeFileSync(usage, "0s,300Mi\n10h,1Mi\n");
    const set = await start(
      "runtime",
      "set",
      "--listen",
      listen,
      "--pod",
      "default/p",
      "--memory",
      `trace ${usage}`,
      "--call",
      "ListImages fails no",
      "--figures",
      "are 2 times as much",
    ).ended;
    expect(set).toMatchObject({ code: 0, stderr: "" });
    expect((await ask("ContainerStats", { containerId })).stats?.memory?.workingSetBytes?.value).toBeGreaterThan(
      600 << 20,
    );
    await expect(ask("ListImages", {})).rejects.toThrow("no");
    const wrong = await start("runtime", "set", "--listen", listen, "--memory", "much").ended;
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('"much"') });
    const taken = await start(...args).ended;
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining("another process listens") });
    second.child.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
    const other = await start("runtime", "--listen", listen, "--memory", "4Gi").ended;
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("made with other options") });
  });
});
