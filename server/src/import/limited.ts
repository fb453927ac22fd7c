/** Keeps the messages of an import short. */

/** Logs the first `most` lines, and in the end the number of the others. */
export function limited(log: (line: string) => void, most: number): { add(line: string): void; end(): void } {
  let seen = 0
  return {
    add(line) {
      seen += 1
      if (seen <= most) log(line)
    },
    end() {
      if (seen > most) log(`… and ${seen - most} more`)
    },
  }
}
