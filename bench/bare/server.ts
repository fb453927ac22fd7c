/**
 * The bare limit (design §9): node:http answers with the rows of one prepared statement as JSON, without session or checks. Its connections
 * have the product's settings.
 */
import http from 'node:http'
import pg from 'pg'
import { SETTINGS } from '../../server/src/postgres/connections.ts'
import { listen } from './listening.ts'

const { BENCH_DATABASE, BENCH_SQL, BENCH_PARAMETERS } = process.env
pg.types.setTypeParser(20, Number)
pg.types.setTypeParser(1700, Number)
const pool = new pg.Pool({ ...(JSON.parse(BENCH_DATABASE ?? '{}') as pg.PoolConfig), options: SETTINGS, max: 16 })
const given = JSON.parse(BENCH_PARAMETERS ?? '[]') as unknown[] | unknown[][]
const sets = (Array.isArray(given[0]) ? given : [given]) as unknown[][]
const query = { name: 'bare', text: BENCH_SQL ?? 'select 1' }
let requests = 0

listen(
  http.createServer((_request, response) => {
    pool.query({ ...query, values: sets[requests++ % sets.length]! }).then(
      ({ rows }) => {
        const body = JSON.stringify(rows)
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        response.end(body)
      },
      (error: unknown) => {
        console.error(error)
        response.writeHead(500).end()
      },
    )
  }),
)
