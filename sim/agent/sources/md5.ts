/** MD5 of bytes as hexadecimal digits: static pods take their uids from it. */
import { md5 } from "@noble/hashes/legacy.js";
import { bytesToHex } from "@noble/hashes/utils.js";

export const md5Hex = (bytes: Uint8Array): string => bytesToHex(md5(bytes));
