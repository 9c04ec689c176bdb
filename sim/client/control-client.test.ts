import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../contract/profile.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { configMaps, TestBed } from "../apiserver/test-bed.fixture.ts";
import { type ControlAnswer, ControlClient } from "./control-client.ts";
import { noControllers } from "../control/controllers.ts";
import { EventRecorder } from "../control/event-recorder.ts";

function play() {
  const bed = new TestBed({ profile: kubernetesProfile, controllers: noControllers });
  const process = bed.kernel.process("controllers");
  const { dialect } = kubernetesProfile;
  const client = new ControlClient({ process, server: bed.server, dialect, account: "generic-garbage-collector" });
  return { bed, process, client };
}

describe("a controller's client", () => {
  it("writes under the controller's account and is told how it went", () => {
    const { client, bed } = play();
    const answers: ControlAnswer[] = [];
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } };
    client.call({ method: "POST", path: configMaps, body }, (answer) => answers.push(answer));
    client.get(`${configMaps}/none`, (answer) => answers.push(answer));
    expect(answers.map(({ status }) => status)).toEqual([201, 404]);
    expect(bed.ask(`GET ${configMaps}/a`).at("metadata.managedFields.0.manager")).toBe("kube-controller-manager");
    const review: JsonObject[] = [];
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    client.call({ method: "POST", path, body: { metadata: {} } }, ({ object }) => review.push(object as JsonObject));
    expect(review[0]?.["status"]).toMatchObject({
      userInfo: { username: "system:serviceaccount:kube-system:generic-garbage-collector" },
    });
  });

  it("hears events until it leaves, and the refusal of what is no watch", () => {
    const { client, bed } = play();
    const heard: string[] = [];
    const hearer = {
      event: (type: string) => void heard.push(type),
      refused: (status: number) => void heard.push(String(status)),
      ended: () => void heard.push("ended"),
    };
    const cancel = client.watch(configMaps, "watch=1&resourceVersion=0", hearer);
    bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
    cancel();
    bed.ask(`DELETE ${configMaps}/a`);
    client.watch("/api/v1/nonsense", "watch=1", hearer);
    client.watch(configMaps, "watch=1&resourceVersion=0&timeoutSeconds=1", hearer);
    bed.advance(2);
    expect(heard).toEqual(["ADDED", "404", "ended"]);
    expect(bed.server.runsInFlight).toBe(0);
  });
});

describe("a controller's events", () => {
  it("are one event of an object that says the same again, counted", () => {
    const { client, bed } = play();
    const recorder = new EventRecorder(client, "some-controller");
    const pod = { apiVersion: "v1", kind: "Pod", namespace: "default", name: "p", uid: "1" };
    recorder.tell(pod, "Warning", "NotDeleted", "it is still there");
    recorder.tell(pod, "Warning", "NotDeleted", "it is still there");
    recorder.tell({ ...pod, kind: "Node", namespace: "", uid: "2" }, "Normal", "Fine", "it is well");
    const events = bed.ask("GET /api/v1/namespaces/default/events").at("items") as JsonObject[];
    expect(events).toHaveLength(2);
    expect(events.find(({ reason }) => reason === "NotDeleted")).toMatchObject({
      involvedObject: { kind: "Pod", name: "p", uid: "1" },
      source: { component: "some-controller" },
      message: "it is still there",
      type: "Warning",
      count: 2,
      firstTimestamp: "2030-01-01T00:00:00Z",
    });
  });
});
