/**
 * What controllers and the scheduler ask for, beside what real ones were seen to ask for the same workloads: a real
 * server, scheduler and controller manager (1.33.3, default rates) with 20 nodes. Counts that follow from the workload
 * are within a tenth of it; writes of statuses, which depend on what came together in time, within a factor of two.
 */
import { describe, expect, it } from "vitest";
import { apps, ClusterBed, deploymentOf } from "./cluster-bed.fixture.ts";

const rate = { intervalMicros: 50_000, burst: 30 };

function cluster(): ClusterBed {
  const bed = new ClusterBed({ nodes: 20, binder: "scheduler", controllers: { rate } });
  bed.advance(5);
  return bed;
}

/** Requests of these methods to this resource by all accounts that the name matches. */
function count(bed: ClusterBed, account: RegExp, method: string, resource: string): number {
  let sum = 0;
  for (const [key, requests] of bed.requests) {
    const [who = "", how, what] = key.split(" ");
    if (account.test(who) && how === method && what === resource) sum += requests;
  }
  return sum;
}

const controllers = /controller|collector/;
const scheduler = /^scheduler$/;

function measure(bed: ClusterBed, act: () => void, seconds: number) {
  bed.requests.clear();
  act();
  bed.advance(seconds);
  return {
    podsMade: count(bed, controllers, "POST", "pods"),
    podsDeleted: count(bed, controllers, "DELETE", "pods"),
    bindings: count(bed, scheduler, "POST", "pods/binding"),
    schedulerEvents: count(bed, scheduler, "POST", "events"),
    eventsMade: count(bed, controllers, "POST", "events"),
    eventsRaised: count(bed, controllers, "PATCH", "events"),
    deploymentStatuses: count(bed, controllers, "PUT", "deployments/status"),
    setStatuses: count(bed, controllers, "PUT", "replicasets/status"),
  };
}

describe("requests for a workload, beside a real cluster's", () => {
  const within = (found: number, real: number, part: number): void => {
    expect(found).toBeGreaterThanOrEqual(Math.floor(real / part));
    expect(found).toBeLessThanOrEqual(Math.ceil(real * part));
  };

  it("a Deployment of 200, then 400, then 100", () => {
    const bed = cluster();
    bed.isBroken = () => true;
    const made = measure(bed, () => bed.make(`${apps}/deployments`, deploymentOf("shop", 200)), 40);
    expect(made).toMatchObject({
      podsMade: 200,
      bindings: 200,
      schedulerEvents: 200,
      podsDeleted: 0,
      eventsMade: 11,
      eventsRaised: 15,
    });
    const grown = measure(bed, () => bed.merge(`${apps}/deployments/shop`, { spec: { replicas: 400 } }), 40);
    expect(grown).toMatchObject({ podsMade: 200, bindings: 200, schedulerEvents: 200 });
    // The set's events are spent; the Deployment tells of one more step.
    within(grown.eventsMade + grown.eventsRaised, 1, 2);
    const shrunk = measure(bed, () => bed.merge(`${apps}/deployments/shop`, { spec: { replicas: 100 } }), 60);
    expect(shrunk).toMatchObject({ podsDeleted: 300, podsMade: 0, bindings: 0 });
  });

  it("200 pods become ready one after another: statuses are written together", () => {
    const bed = cluster();
    bed.isBroken = () => true;
    bed.make(`${apps}/deployments`, deploymentOf("shop", 200));
    bed.advance(60);
    const names = bed.pods().map(({ metadata }) => metadata.name);
    const found = measure(
      bed,
      () => {
        for (const name of names) {
          bed.merge(`/api/v1/namespaces/default/pods/${name}/status`, {
            status: { conditions: [{ type: "Ready", status: "True" }] },
          });
          bed.advance(0.013);
        }
      },
      5,
    );
    within(found.setStatuses, 54 + 14, 2);
    within(found.deploymentStatuses, 52, 2);
  });
});
