/** The fallback screen for unknown paths (§2). */
import { useKeptSearch } from '#src/lists/back-to-list.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Page, Panel } from '#src/ui/page.tsx'

export function FallbackPage() {
  return (
    <Page title="Page not found" narrow>
      <Panel>
        <p style={{ marginTop: 0 }}>There is no page at this address.</p>
        <LinkButton to="/" search={useKeptSearch('/')}>
          Back to the dashboard
        </LinkButton>
      </Panel>
    </Page>
  )
}
