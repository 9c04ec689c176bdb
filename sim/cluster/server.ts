/** An API server and the controllers that run in its process, as its clients. */
import { type ApiServer, type ApiServerOptions, createApiServer } from "../apiserver/api-server.ts";
import type { CertificateAuthority } from "../control/certificate-signer.ts";
import { type ControllerSwitches, startControllers } from "../control/controllers.ts";

export interface ServerOptions extends ApiServerOptions {
  /** Default: all on. */
  readonly controllers?: ControllerSwitches;
  /** Signs what the cluster's own signers approve. Default: nobody can, and an approved request says so. */
  readonly certificateAuthority?: CertificateAuthority;
}

/** To be called in an event of `options.process`, whose crash ends the server and its controllers. */
export function startServer({ controllers = {}, certificateAuthority, ...options }: ServerOptions): ApiServer {
  const server = createApiServer(options);
  startControllers({
    process: options.process,
    server,
    dialect: server.profile.dialect,
    switches: controllers,
    authority: certificateAuthority,
    bugs: server.bugs,
    queueCounts: server.queueCounts,
  });
  return server;
}
