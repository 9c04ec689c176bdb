import type { Responder } from "./http-message.ts";

/** As `responder`, whatever kind of object that is, but for what `own` does. */
export function wrapped(responder: Responder, own: Partial<Responder>): Responder {
  const { whenTaken, tunnel, failed } = responder;
  return {
    respond: (...given) => responder.respond(...given),
    open: (...given) => responder.open(...given),
    frame: (...given) => responder.frame(...given),
    close: () => responder.close(),
    ...(whenTaken === undefined ? {} : { whenTaken: (resume) => whenTaken.call(responder, resume) }),
    ...(tunnel === undefined ? {} : { tunnel: (...given) => tunnel.apply(responder, given) }),
    ...(failed === undefined ? {} : { failed: (failure) => failed.call(responder, failure) }),
    ...own,
  };
}
