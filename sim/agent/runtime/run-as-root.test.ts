import { expect, it } from "vitest";
import { SimulatedRuntime } from "../../runtime/runtime.ts";
import { AgentWorld } from "../agent-world.fixture.ts";

/** Why a pod's container waits; its phase where it does not. */
function comesTo(user: number | undefined, ofPod: object, ofContainer: object): unknown {
  const images = [{ name: "box:1", present: true, shell: true, ...(user === undefined ? {} : { user }) }];
  let machine: SimulatedRuntime | undefined;
  const w = new AgentWorld({}, 700_000, {
    around: (_inner, process) => (machine ??= new SimulatedRuntime(process, { images })),
  });
  w.run(3);
  const container = { name: "c", image: "box:1", imagePullPolicy: "IfNotPresent", command: ["sleep", "1000"] };
  w.create("p", { securityContext: ofPod, containers: [{ ...container, securityContext: ofContainer }] });
  w.run(8);
  const [status] = w.status("p")["containerStatuses"] as [{ state: { waiting?: { reason: string; message: string } } }];
  const { waiting } = status.state;
  return waiting === undefined ? w.status("p")["phase"] : `${waiting.reason}: ${waiting.message.split(" (")[0]}`;
}

const ofImage = "CreateContainerConfigError: container has runAsNonRoot and image will run as root";
const ofUser = "CreateContainerConfigError: container's runAsUser breaks non-root policy";

it.each<[what: string, user: number | undefined, ofPod: object, ofContainer: object, comes: string]>([
  ["an image of root", undefined, {}, { runAsNonRoot: true }, ofImage],
  ["an image of root, by its number", 0, { runAsNonRoot: true }, {}, ofImage],
  ["an image of somebody", 1000, { runAsNonRoot: true }, {}, "Running"],
  ["root, as the pod wants it", 1000, { runAsNonRoot: true, runAsUser: 0 }, {}, ofUser],
  ["somebody, as the container wants it", 0, { runAsNonRoot: true, runAsUser: 0 }, { runAsUser: 7 }, "Running"],
  ["root where the container may", 0, { runAsNonRoot: true }, { runAsNonRoot: false }, "Running"],
  ["root where nobody minds", 0, {}, {}, "Running"],
])("a container that would run as %s", (_what, user, ofPod, ofContainer, comes) => {
  expect(comesTo(user, ofPod, ofContainer)).toBe(comes);
});
