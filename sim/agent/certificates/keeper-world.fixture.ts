/** A cluster that signs, and an agent that keeps certificates, on virtual time. */
import { TestBed } from "../../apiserver/test-bed.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { runAuthority } from "../../http/certificates/certificate-authority.ts";
import { certificateMaker } from "../../http/certificates/certificate-maker.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { StartedAgentBugs } from "../../planted/started-agent-bugs.ts";
import { certificateOptionsWith } from "../planted/certificate-bugs.ts";
import { AgentApi } from "../client/agent-api.ts";
import { run } from "../task.ts";
import { CertificateKeeper, type CertificateMaker, type HeldCertificate } from "./certificate-keeper.ts";

export const requestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
export const lifetimeSeconds = 1000;

export function world({
  purpose = "client" as "client" | "serving",
  approves = true,
  maker = certificateMaker as CertificateMaker,
  modes = ["AlwaysAllow"] as ("AlwaysAllow" | "RBAC")[],
  bugs = {} as StartedAgentBugs,
} = {}) {
  const kernel = new Kernel({ seed: "certificates", epochUnixMillis: 1_900_000_000_000 });
  const certificateAuthority = runAuthority(1_900_000_000_000, lifetimeSeconds);
  const bed = new TestBed(
    {
      profile: kubernetesProfile,
      certificateAuthority,
      controllers: { certificateApproval: approves },
      authorizationModes: modes,
    },
    kernel,
  );
  const process = kernel.process("agent");
  const warnings: string[] = [];
  const made: { readonly held: HeldCertificate; readonly atSeconds: number }[] = [];
  const api = new AgentApi({
    process,
    server: bed.server,
    headers: { authorization: `Bearer ${modes.includes("RBAC") ? "alice" : "admin"}`, accept: "application/json" },
  });
  const options = {
    process,
    api,
    dialect: kubernetesProfile.dialect,
    maker,
    purpose,
    nodeName: "n1",
    hosts: ["n1", "10.0.0.7"],
    warn: (line: string) => warnings.push(line),
  };
  const keeper = new CertificateKeeper(certificateOptionsWith(bugs, options));
  return {
    bed,
    warnings,
    made,
    keep: (held?: HeldCertificate) =>
      kernel.enter(process, () =>
        run(
          keeper.keep(held, (one) => made.push({ held: one, atSeconds: kernel.nowMicros() / 1_000_000 })),
          () => {},
        ),
      ),
    requests: (): readonly JsonObject[] =>
      bed.ask(`GET ${requestsPath}`, { as: "admin" }).body["items"] as JsonObject[],
    decide(type: "Approved" | "Denied") {
      for (const request of this.requests()) {
        const { name } = request["metadata"] as { readonly name: string };
        const status = { conditions: [{ type, status: "True", reason: "Test", message: "by hand" }] };
        if (request["status"] === undefined || Object.keys(request["status"] as object).length === 0)
          bed.ask(`PUT ${requestsPath}/${name}/approval`, { as: "admin", body: { ...request, status } });
      }
    },
  };
}
