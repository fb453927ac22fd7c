/**
 * Answers a call of the contract. Checks, in this order: origin, caller, access, second factor, free disk space, body and input. Then runs
 * the handler and writes the answer. A failure of any step becomes the answer.
 */
import { randomUUID } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Logger } from 'pino'
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { CallMeta } from '@arcade/contract/call'
import { type Caller, type CallContext, Failure, refuseWithoutPermission, sessionOf } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { allowReplica } from '#src/db/reads.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import type { BotTokens } from '#src/identity/bot-tokens.ts'
import type { InTurn } from '#src/identity/credential-cache.ts'
import { deviceName } from '#src/identity/device-name.ts'
import { MAX_DEVICE_SECONDS, type Devices } from '#src/identity/devices.ts'
import type { InitDataReader } from '#src/identity/init-data.ts'
import { refuseWithoutStepUp } from '#src/identity/second-factor.ts'
import { MAX_SESSION_SECONDS } from '#src/identity/find-session.ts'
import { FLOW_SECONDS } from '#src/identity/oidc-links.ts'
import { whileAllowed } from '#src/identity/still-signed-in.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import { withPoolShareOf } from '#src/postgres/pool-shares.ts'
import { hasVersion, jsonHeaders, type Send, writeJson } from './answer.ts'
import { breakableBody } from './breakable-body.ts'
import { type Cookie, identify, privateCookie, refuseWithoutAccess } from './caller.ts'
import { answersEverySite, crossSiteHeaders } from './cross-site.ts'
import { failureAnswer, logFailure, toFailure } from './failures.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { readBody, readInput, refuseMalformed } from './input.ts'
import { closeLingering } from './lingering-close.ts'
import type { Metrics } from './metrics.ts'
import { refuseForeignOrigin, requestOrigin } from './origin.ts'
import { createRefusals, type Refusals } from './refusals.ts'
import type { BoundRoute } from './routes.ts'
import { createTurns, type Turns } from './turns.ts'

export interface CallServices {
  database: Database
  sessions: Sessions
  botTokens: BotTokens
  readInitData: InitDataReader
  attempts: Attempts
  devices: Devices
  log: Logger
  /** PUBLIC_URL's origin, if it is set. */
  publicOrigin: string | undefined
  metrics: Metrics
  /** Whether attempts and refusals are limited. */
  rateLimit: boolean
}

export type Env = { Bindings: Partial<HttpBindings> }

interface CallPipelineOptions {
  services: CallServices
  isHttps: boolean
  clientAddress: (c: Context<Env>) => string
  send: Send
}

/** A request, and the headers and cookies of its answer. */
interface Exchange {
  c: Context<Env>
  request: Request
  requestId: string
  /** The client's address. */
  address: string
  route: BoundRoute
  changesState: boolean
  /** Whether pages of any site may make the call. */
  allowsCrossSite: boolean
  sessionToken: string | undefined
  deviceCookie: string | undefined
  /** Headers of the answer. */
  headers: Record<string, string>
  /** Set-Cookie headers of the answer. */
  cookies: string[]
}

export class CallPipeline {
  readonly #services: CallServices
  readonly #clientAddress: (c: Context<Env>) => string
  readonly #send: Send
  readonly #cookies: Record<'session' | 'device' | 'flow' | 'lsn', Cookie>
  readonly #refusals: Refusals
  /**
   * `unverified` are requests whose credential is not verified yet. `guestsOfServices` are calls of guests that wait for another service.
   * The four kinds do not wait for each other.
   */
  readonly #turns: Record<'guests' | 'guestsOfServices' | 'unverified' | 'players', Turns> = {
    guests: createTurns(),
    guestsOfServices: createTurns(),
    unverified: createTurns(),
    players: createTurns(),
  }

  constructor({ services, isHttps, clientAddress, send }: CallPipelineOptions) {
    this.#services = services
    this.#clientAddress = clientAddress
    this.#send = send
    this.#cookies = {
      session: privateCookie('session', { isHttps, maxAgeSeconds: MAX_SESSION_SECONDS }),
      device: privateCookie('device', { isHttps, maxAgeSeconds: MAX_DEVICE_SECONDS }),
      flow: privateCookie('flow', { isHttps, maxAgeSeconds: FLOW_SECONDS }),
      lsn: privateCookie('position', { isHttps, maxAgeSeconds: LSN_SECONDS }),
    }
    this.#refusals = createRefusals(services.rateLimit)
  }

  /** Answers a call and counts it in the metrics. */
  async answer(c: Context<Env>, route: BoundRoute): Promise<Response> {
    const started = performance.now()
    const response = await this.#process(this.#begin(c, route))
    const seconds = (performance.now() - started) / 1000
    this.#services.metrics.observe({ call: route.name, method: c.req.method, status: response.status, seconds })
    return response
  }

  #begin(c: Context<Env>, route: BoundRoute): Exchange {
    const request = c.req.raw
    const requestId = randomUUID()
    const allowsCrossSite = answersEverySite(route.meta)
    return {
      c,
      request,
      requestId,
      address: this.#clientAddress(c),
      route,
      changesState: route.meta.changesState || route.method !== 'GET',
      allowsCrossSite,
      sessionToken: this.#cookies.session.read(request),
      deviceCookie: this.#cookies.device.read(request),
      headers: { 'x-request-id': requestId, ...(allowsCrossSite && crossSiteHeaders) },
      cookies: [],
    }
  }

  async #process(exchange: Exchange): Promise<Response> {
    try {
      const caller = await this.#admit(exchange)
      const output = await this.#run(exchange, caller)
      await this.#sendLsn(exchange)
      return this.#sendOutput(exchange, output)
    } catch (error) {
      await this.#sendLsn(exchange)
      return this.#sendFailure(exchange, error)
    }
  }

  /** Checks origin, caller, access, second factor and free disk space. Returns the caller. @throws Failure */
  async #admit(exchange: Exchange): Promise<Caller> {
    const { request, route, changesState, allowsCrossSite, sessionToken } = exchange
    const { meta } = route
    if (route.isDownload && request.method === 'HEAD') throw new Failure('METHOD_NOT_ALLOWED')
    if ((changesState || meta.isForOwnPages) && !allowsCrossSite) refuseForeignOrigin(request, this.#services.publicOrigin)
    const caller = await this.#identifyAndCheckAccess(exchange)
    if (meta.stepUp) await refuseWithoutStepUp(this.#services.database.db, { caller, sessionToken })
    if (changesState && this.#isRefusedForSpace(meta)) throw new Failure('DISK_FULL')
    return caller
  }

  /** Identifies the caller and checks its access to the call. @throws Failure */
  async #identifyAndCheckAccess({ request, address, route, sessionToken }: Exchange): Promise<Caller> {
    const caller = await identify(request, { sessionToken, address, inTurn: this.#unverifiedTurn(address) }, this.#services)
    refuseWithoutAccess(route.meta, caller)
    return caller
  }

  #isRefusedForSpace({ onFullDisk }: CallMeta): boolean {
    if (onFullDisk === 'allowed') return false
    const { database } = this.#services
    return onFullDisk === 'small' ? database.isSpaceNearlyGone() : database.isSpaceLow()
  }

  /** Runs work that has no caller yet when it is the address's turn. @throws Failure BUSY */
  #unverifiedTurn(address: string): InTurn {
    return (work) => this.#turns.unverified.run(address, work)
  }

  /** Counts a wrong credential of a request that is no call. @throws Failure TOO_MANY_ATTEMPTS or BUSY */
  async countWrongToken(c: Context<Env>): Promise<void> {
    const address = this.#clientAddress(c)
    const { attempts } = this.#services
    await this.#unverifiedTurn(address)(() => attempts.count(limits.wrongTokenByAddress, address))
  }

  /** Answers a request that is no call and needs no credential: at once for signed-in people, else in turn. @throws Failure BUSY */
  async answerInTurn(c: Context<Env>, answer: () => Promise<Response> | Response): Promise<Response> {
    const token = this.#cookies.session.read(c.req.raw)
    const isSignedIn = token !== undefined && this.#services.sessions.isRecent(token) // asks no database, which may be down
    return isSignedIn ? answer() : this.#turns.guests.run(this.#clientAddress(c), answer)
  }

  /** Reads and checks the input and runs the handler. Guests and players wait for their turn when the body is there. @throws Failure */
  async #run(exchange: Exchange, admitted: Caller): Promise<unknown> {
    const { c, request, address, route } = exchange
    const { bodyLimitBytes, rowsField } = route.meta
    const { inputSchema: schema, isDownload, isUpload } = route
    const raw = { request, params: readParams(c), bodyLimitBytes, rowsField, schema, isDownload, isUpload }
    const body = await this.#limitRefusals(exchange, admitted, () => readBody(raw))
    // A client may send its body slowly. What the person could do when it began must not count.
    const caller = admitted.kind === 'user' && body !== undefined ? await this.#identifyAndCheckAccess(exchange) : admitted
    const run = async (): Promise<unknown> => {
      const input = await this.#limitRefusals(exchange, caller, () => readInput(raw, body))
      return this.#handle(exchange, caller, input)
    }
    if (caller.kind === 'player') return this.#turns.players.run(String(caller.userId), run)
    if (caller.kind !== 'guest') return run()
    return this.#turns[route.meta.waitsForService ? 'guestsOfServices' : 'guests'].run(address, run)
  }

  /** Reads a part of the input. Limits the refused requests of guests. @throws Failure */
  async #limitRefusals<T>({ address, changesState, deviceCookie }: Exchange, caller: Caller, read: () => Promise<T>): Promise<T> {
    // A person who signed in on this device before is not locked out by failed attempts of others at the same address.
    const isLimited = changesState && caller.kind === 'guest' && !this.#services.devices.isKnown(deviceCookie)
    if (isLimited) this.#refusals.check(address)
    return read().catch((error: unknown) => {
      if (isLimited) this.#refusals.count(address)
      throw error
    })
  }

  /** Runs the handler. Its reads may use a replica if the call's answer may be a second old. */
  async #handle(exchange: Exchange, caller: Caller, input: unknown): Promise<unknown> {
    const { request, route, changesState } = exchange
    const context = this.#context(exchange, caller, input)
    const { access, isForOwnPages } = route.meta
    const isPersonsAct = caller.kind === 'user' && (changesState || isForOwnPages) && !access.includes('guest')
    const handle = async (): Promise<unknown> => {
      if (!isPersonsAct) return route.handler(input, context)
      const refuse = (user: SessionUser): void => {
        refuseWithoutAccess(route.meta, { ...caller, user })
        // Also refuses if the person has lost any permission since the start, because the act may have read what only that permission
        // allows, such as personal fields. An act that removes the person's own second factor is allowed.
        if (user.lacksSecondFactor) return
        for (const permission of caller.user.permissions) refuseWithoutPermission(permission, user)
      }
      return whileAllowed(this.#services, { session: sessionOf(context), refuse }, () => route.handler(input, context))
    }
    const isForReplica = this.#services.database.replica !== undefined && route.meta.mayBeSecondOld && caller.kind === 'user'
    const run = isForReplica ? () => allowReplica(this.#cookies.lsn.read(request), handle) : handle
    return withPoolShareOf(route.name, run)
  }

  #context(exchange: Exchange, caller: Caller, input: unknown): CallContext {
    const { request, requestId, address, route, sessionToken, deviceCookie, cookies } = exchange
    const { session, device, flow } = this.#cookies
    return {
      caller,
      requestId,
      address,
      get host() {
        return new URL(request.url).host
      },
      origin: requestOrigin(request),
      sessionToken,
      setSessionToken: (token) => void cookies.push(session.write(token)),
      deviceCookie,
      setDeviceCookie: (value) => void cookies.push(device.write(value)),
      get flowCookie() {
        return flow.read(request)
      },
      setFlowCookie: (value) => void cookies.push(flow.write(value)),
      get device() {
        return deviceName(request.headers.get('user-agent') ?? '')
      },
      hasVersion: (etag) => hasVersion(request, etag),
      idempotencyKey: route.meta.heedsIdempotencyKey ? readIdempotencyKey(request, route, { caller, input }) : undefined,
      get signal() {
        return request.signal
      },
    }
  }

  /** Sends the database's LSN, so that a client that changed something, or met a conflict, does not read older data from a replica. */
  async #sendLsn({ route, changesState, cookies }: Exchange): Promise<void> {
    const { replica } = this.#services.database
    if (replica === undefined || !changesState || route.meta.mayBeSecondOld) return
    cookies.push(this.#cookies.lsn.write(await replica.lsn().catch(() => LSN_BEYOND_ALL)))
  }

  #sendOutput({ c, route, headers, cookies }: Exchange, output: unknown): Response {
    if (!route.isDownload)
      return this.#send({ status: 200, headers: { ...jsonHeaders, ...headers }, body: writeJson(output) }, cookies)
    const { headers: outputHeaders, body } = output as { headers: Record<string, string>; body: ReadableStream | null }
    const breakable = body && breakableBody(body, c.env?.outgoing)
    return this.#send({ status: body === null ? 304 : 200, headers: { ...outputHeaders, ...headers }, body: breakable })
  }

  /** Logs a failure and answers with it. */
  #sendFailure({ c, request, requestId, address, route, headers, cookies }: Exchange, error: unknown): Response {
    const failure = toFailure(error, route.meta.unexpected)
    const incoming = c.env?.incoming
    if (failure.code === 'TOO_LARGE' && incoming instanceof IncomingMessage) closeLingering(incoming)
    logFailure(this.#services.log, failure, { requestId, method: request.method, route: route.name, address })
    const { status, headers: failureHeaders, body } = failureAnswer(failure, requestId, route.meta.failure)
    return this.#send({ status, headers: { ...failureHeaders, ...headers }, body }, cookies)
  }
}

/** Seconds for which a client's LSN is kept: longer than a replica may lag behind. */
const LSN_SECONDS = 10
/** An LSN that no replica has reached, used while that of the primary is unknown. */
const LSN_BEYOND_ALL = 'FFFFFFFF/FFFFFFFF'

/** Returns the decoded parameters of the path. @throws Failure INVALID_INPUT for a malformed escape */
function readParams(c: Context<Env>): Record<string, string> {
  const params = c.req.param() as Record<string, string>
  if (Object.keys(params).length > 0) refuseMalformed(c.req.path)
  return params
}
