/** The page of a route, which is loaded when it is first shown. */
import { lazyRouteComponent } from '@tanstack/react-router'
import { client } from './client.ts'

/**
 * A file that is missing makes the router load the document anew, because the server may have another version by now. Without a connection
 * that would leave the app for the browser's error page, so then the page fails with what the server's silence says (`PageProblem`).
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (cause: unknown) => {
        await client.auth.session()
        throw cause
      }),
    name,
  )
