/** Calls an endpoint of the stand-in, which serves this page. */
export async function ask<T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<T> {
  const answer = await fetch(path, { method, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
  return (answer.status === 204 ? undefined : await answer.json()) as T
}
