/** Largest message, in bytes: a file of 10 MiB is 13.4 MiB in base64, and there is JSON around it. */
export const MOST_BYTES = 16 * 1024 * 1024
