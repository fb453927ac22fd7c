/** Describes the API for people and programs, from the contract: /api/openapi.json and /api/docs. */
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { type OpenAPI, OpenAPIGenerator } from '@orpc/openapi'
import { ZodToJsonSchemaConverter } from '@orpc/zod/zod4'
import { contract } from '@arcade/contract/contract'
import { type Asset, ASK_EACH_TIME, createAsset } from './asset.ts'
import { MAX_KEY_LENGTH } from './idempotency-key.ts'
import { listRoutes } from './routes.ts'

export interface ApiDocuments {
  /** The OpenAPI 3.1 description of every call; `x-access` says who may make it. */
  openApi: Asset
  /** A page without scripts that lists every call with its input and output. */
  docs: Asset
}

/**
 * Returns a function that makes the documents on its first call, because that takes some hundred milliseconds, and keeps them. Other
 * requests are answered between the parts of the work.
 */
export function apiDocuments(serverUrl: string | undefined): () => Promise<ApiDocuments> {
  let documents: Promise<ApiDocuments> | undefined
  return () => (documents ??= createDocuments(serverUrl))
}

async function createDocuments(serverUrl: string | undefined): Promise<ApiDocuments> {
  const document = await generate(serverUrl)
  const asset = (text: string, type: string) => createAsset(new TextEncoder().encode(text), { type, cacheControl: ASK_EACH_TIME })
  await letOthersRun()
  const openApi = await asset(JSON.stringify(document), 'application/json')
  const docs = await asset(renderDocs(document), 'text/html; charset=utf-8')
  return { openApi, docs }
}

async function generate(serverUrl: string | undefined): Promise<OpenAPI.Document> {
  const generator = new OpenAPIGenerator({ schemaConverters: [new ZodToJsonSchemaConverter()] })
  const info = {
    title: 'Arcade Console',
    version: '1.0.0',
    description: 'Sign in for a session cookie, or send a bot token as a bearer token.',
  }
  const document = await generator.generate({}, { info, servers: [{ url: serverUrl ?? '/' }] })
  const paths: NonNullable<OpenAPI.Document['paths']> = {}
  for (const calls of Object.values(contract)) {
    await letOthersRun()
    const part = await generator.generate(calls, { info })
    for (const [path, item] of Object.entries(part.paths ?? {})) paths[path] = { ...paths[path], ...item }
  }
  for (const route of listRoutes(contract)) {
    const operation = paths[route.path]?.[route.method.toLowerCase() as 'get']
    if (!operation) continue
    Object.assign(operation, { 'x-access': route.meta.access, operationId: route.name })
    if (route.meta.heedsIdempotencyKey) operation.parameters = [...(operation.parameters ?? []), idempotencyKey]
  }
  return { ...document, paths }
}

const idempotencyKey: OpenAPI.ParameterObject = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Bare or in quotes. Within 24 hours, the same key with the same input gets the first answer; with other input, 422.',
  schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH },
}

function renderDocs({ info, paths }: OpenAPI.Document): string {
  const calls = Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item ?? {}).map(([method, operation]) =>
      renderCall(method, path, operation as OpenAPI.OperationObject & { 'x-access'?: string[] }),
    ),
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(info.title)} API</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}code,pre{font:14px ui-monospace,monospace}pre{overflow:auto;padding:.75rem;border:1px solid #8884;border-radius:6px}h2{margin:2.5rem 0 0;font-size:1.1rem}</style></head>
<body><h1>${escape(info.title)} API</h1><p>${escape(info.description ?? '')} The same as <a href="/api/openapi.json">OpenAPI</a>.</p>${calls.join('\n')}</body></html>`
}

function renderCall(method: string, path: string, operation: OpenAPI.OperationObject & { 'x-access'?: string[] }): string {
  const body =
    operation.requestBody && 'content' in operation.requestBody
      ? operation.requestBody.content['application/json']?.schema
      : undefined
  const answer = Object.entries(operation.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => (response && 'content' in response ? response.content?.['application/json']?.schema : undefined))
    .find(Boolean)
  const part = (title: string, value: unknown) =>
    value === undefined
      ? ''
      : `<details><summary>${title}</summary><pre>${escape(JSON.stringify(value, null, 2))}</pre></details>`
  return `<section><h2><code>${method.toUpperCase()} ${escape(path)}</code></h2><p>${escape(operation.summary ?? '')} — for ${escape((operation['x-access'] ?? []).join(', '))}</p>
${part('Parameters', operation.parameters)}${part('Request', body)}${part('Response', answer)}</section>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
