/** What the runtime says of itself. */
import type { CallHandler } from "./container-calls.ts";
import type { RuntimeHandler } from "../../wire/cri-messages.ts";
import { podNetworkOf } from "./pod-network.ts";

type StatusMethod = "Version" | "Status" | "UpdateRuntimeConfig" | "RuntimeConfig";

const RUNTIME_VERSION = "1.0.0";

export const statusCalls: { readonly [M in StatusMethod]: CallHandler<M> } = {
  Version: (_state, _message, answer) =>
    answer({
      ok: true,
      message: {
        version: "0.1.0",
        runtimeName: "touchstone",
        runtimeVersion: RUNTIME_VERSION,
        runtimeApiVersion: "v1",
      },
    }),

  Status(state, { verbose = false }, answer) {
    const { runtimeReady, networkReady } = state.conditions;
    const network = networkReady
      ? { reason: "", message: "" }
      : { reason: "NetworkPluginNotReady", message: "Network plugin returns error: cni plugin not initialized" };
    const runtime = runtimeReady
      ? { reason: "", message: "" }
      : { reason: "RuntimeNotReady", message: "the runtime was told not to be ready" };
    const handlers: RuntimeHandler[] = ["", ...(state.options.runtimeHandlers ?? [])].map((name) => ({
      name,
      features: { recursiveReadOnlyMounts: false, userNamespaces: false },
    }));
    answer({
      ok: true,
      message: {
        status: {
          conditions: [
            { type: "RuntimeReady", status: runtimeReady, ...runtime },
            { type: "NetworkReady", status: networkReady, ...network },
          ],
        },
        info: verbose
          ? { config: JSON.stringify({ sandboxes: state.sandboxes.size, containers: state.containers.size }) }
          : {},
        runtimeHandlers: handlers,
        features: { supplementalGroupsPolicy: false },
      },
    });
  },

  /** Pods that begin from now on have addresses of the first block of the fourth version, or where there is none, of the sixth. */
  UpdateRuntimeConfig(state, { runtimeConfig }, answer) {
    const ranges = (runtimeConfig?.networkConfig?.podCidr ?? "").split(",").map((each) => each.trim());
    const blocks = ranges.filter((each) => each.includes("/") && podNetworkOf(each) !== undefined);
    const block = blocks.find((each) => !each.includes(":")) ?? blocks[0];
    if (block !== undefined) state.podNetwork = block;
    answer({ ok: true, message: {} });
  },

  // As containerd 1.6 has it: an agent then goes by its own setting.
  RuntimeConfig: (_state, _message, answer) =>
    answer({ ok: false, code: 12, text: "unknown method RuntimeConfig for service runtime.v1.RuntimeService" }),
};
