/** Serves a web build with plain node:http, with the same answers for files and the page as the console's server. */
import http from 'node:http'
import { loadWebApp } from '../../server/src/http/static.ts'
import { listen } from './listening.ts'

const webApp = await loadWebApp(process.env['BENCH_BUILD'] ?? '')

listen(
  http.createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1')
    const request = new Request(url, { headers: { 'accept-encoding': String(incoming.headers['accept-encoding']) } })
    const { status, headers, body } = webApp.file(request, url.pathname) ?? webApp.page({ user: null }, url.pathname)
    response.writeHead(status, headers).end(body)
  }),
)
