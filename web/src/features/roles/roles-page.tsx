/** The roles page, for owners: what each role may do, how many people have it, and its settings. */
import type { RoleOutput } from '@arcade/contract/team/calls'
import { roleDescriptions } from '@arcade/contract/team/permissions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { problemOf } from '#src/client/call-error.ts'
import { api, fetchOnce } from '#src/client/client.ts'
import { counted } from '#src/ui/numbers.ts'
import { Page, Panel, PanelText, Problem } from '#src/ui/page.tsx'
import { PermissionMatrix } from './permission-matrix.tsx'
import { RoleSettingsForm } from './role-settings-form.tsx'
import classes from './roles-page.module.css'

export function RolesPage() {
  // The roles are not refetched in the background, because the forms would then hold older settings than the page.
  const { data, error, refetch } = useQuery(api.team.roles.queryOptions(fetchOnce))
  return (
    <Page title="Roles">
      {data ? (
        <>
          <Panel title="Who has which role">
            <PanelText>An admin has one role, which decides what they see and may do. It is given on Update User.</PanelText>
            <People roles={data.roles} />
          </Panel>
          <Panel title="What each role may do">
            <PermissionMatrix roles={data.roles} />
          </Panel>
          <div className={classes['settings']}>
            {data.roles
              .filter(({ role }) => role !== 'owner')
              .map((role) => (
                <Panel key={role.role} title={`Settings of ${role.label}`}>
                  {/* The key begins the form anew with what was saved. */}
                  <RoleSettingsForm key={JSON.stringify(role.settings)} role={role} onSaved={() => void refetch()} />
                </Panel>
              ))}
          </div>
        </>
      ) : (
        <Panel>{error ? <Problem {...problemOf(error, () => void refetch())} /> : <output>Loading...</output>}</Panel>
      )}
    </Page>
  )
}

function People({ roles }: { roles: readonly RoleOutput[] }) {
  return (
    <dl className={classes['people']}>
      {roles.map(({ role, label, people }) => (
        <div key={role}>
          <dt>{label}</dt>
          <dd>{roleDescriptions[role]}</dd>
          <dd>
            {people === 0 ? (
              'Nobody'
            ) : (
              <Link
                to="/manage-users"
                search={{ role }}
                aria-label={`${counted(people, 'person', 'people')} with the role ${label}`}
              >
                {counted(people, 'person', 'people')}
              </Link>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
