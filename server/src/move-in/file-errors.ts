/** Whether an error of the operating system has this code, such as ENOENT. */
export function isFileError(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code
}
