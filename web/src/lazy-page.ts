/** Loads the component of a route when it is first shown. */
import { lazyRouteComponent } from '@tanstack/react-router'
import { client } from '#src/client/client.ts'
import { isMissingStyle, MISSING_MODULE } from '#src/client/missing-files.ts'

/**
 * If a script or style sheet fails to load, the router reloads the document once, because the server may have been updated. Without a
 * connection, a reload would show the browser's error page, so the call below throws first and the app shows `PageProblem` instead.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (cause: unknown) => {
        await client.auth.session()
        throw cause instanceof Error && isMissingStyle(cause)
          ? new Error(`${MISSING_MODULE}: ${cause.message}`, { cause })
          : cause
      }),
    name,
  )
