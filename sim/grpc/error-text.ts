/** What a failed call is told with. */
import type { ServiceError } from "@grpc/grpc-js";

/** Without the note on how the address was looked up where that is empty, as for sockets of a machine. */
export const errorText = ({ details }: Pick<ServiceError, "details">): string =>
  details.replace(/\.? Resolution note: *$/, "");
