/** The passkeys of the signed-in admin: adds one with this browser, renames and removes them. */
import type { Passkey, PasskeyNameInput } from '@arcade/contract/passkeys/calls'
import { MAX_PASSKEYS } from '@arcade/contract/passkeys/fields'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { hasPasskeys, makePasskey } from '#src/client/passkeys.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { TextField, useForm } from '#src/ui/form.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { PanelText, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { Cell, RowActs, RowFacts, RowName, WideRow, WideTable } from '#src/ui/wide-table.tsx'
import classes from './account.module.css'
import { RecoveryCodes, refreshFactor } from './second-factor.tsx'

export function Passkeys() {
  const query = useQuery(api.passkeys.list.queryOptions())
  const { data, error, refetch } = query
  useAutoReload(query)
  /** What the dialog is about. */
  const [named, setNamed] = useState<Passkey | 'new'>()
  /** The codes that came with the first passkey. */
  const [codes, setCodes] = useState<readonly string[]>()

  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  if (!data) return <output>Loading...</output>
  if (codes) return <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />
  const { passkeys, isPossible } = data
  const canAdd = isPossible && hasPasskeys()
  return (
    <>
      <PanelText>
        A passkey signs you in by the finger, face or PIN of a device of yours, or by a security key: instead of your password, or
        after it as the second factor.
      </PanelText>
      {passkeys.length > 0 && <PasskeyTable passkeys={passkeys} onRename={setNamed} />}
      {canAdd ? (
        <div className={passkeys.length > 0 ? classes['all'] : classes['buttons']}>
          <Button variant="default" disabled={passkeys.length >= MAX_PASSKEYS} onClick={() => setNamed('new')}>
            Add a Passkey
          </Button>
        </div>
      ) : (
        <PanelText>{isPossible ? NO_PASSKEYS_IN_BROWSER : NO_PASSKEYS_AT_ADDRESS}</PanelText>
      )}
      <NameDialog named={named} onClose={() => setNamed(undefined)} onCodes={setCodes} />
    </>
  )
}

const NO_PASSKEYS_IN_BROWSER = 'This browser has no passkeys, or not at this address. They need https, or localhost.'
const NO_PASSKEYS_AT_ADDRESS =
  'No passkey can be made at this address: passkeys need a host name and https, or localhost on the console’s own machine.'

function PasskeyTable({ passkeys, onRename }: { passkeys: Passkey[]; onRename: (passkey: Passkey) => void }) {
  const act = useItemAct(api.passkeys.key())
  const handleRemove = ({ id, name }: Passkey) =>
    void act(
      async () => {
        await client.passkeys.remove({ id })
        void refreshFactor()
        return 'Passkey removed.'
      },
      {
        title: 'Remove passkey',
        message: `Are you sure you want to remove ${isolated(name)}? It does not sign you in any more, and your other sessions end.`,
        isDestructive: true,
      },
    )
  return (
    <WideTable label="Passkeys" columns={['Name', 'Added', 'Last used', { hidden: 'Acts' }]}>
      {passkeys.map((passkey) => (
        <PasskeyRow
          key={passkey.id}
          passkey={passkey}
          onRename={() => onRename(passkey)}
          onRemove={() => handleRemove(passkey)}
        />
      ))}
    </WideTable>
  )
}

function PasskeyRow({ passkey, onRename, onRemove }: { passkey: Passkey; onRename: () => void; onRemove: () => void }) {
  const name = isolated(passkey.name)
  return (
    <WideRow>
      <Cell isLong>
        <RowName>{name}</RowName>
        {passkey.isSynced && <RowFacts>On all devices of its password manager</RowFacts>}
      </Cell>
      <Cell label="Added">
        <Moment iso={passkey.createdAt} />
      </Cell>
      <Cell label="Last used">{passkey.lastUsedAt === null ? 'Never' : <Moment iso={passkey.lastUsedAt} />}</Cell>
      <Cell isAtEnd>
        <RowActs>
          <Button variant="default" size="compact-sm" aria-label={`Rename ${name}`} onClick={onRename}>
            Rename
          </Button>
          <Button variant="default" size="compact-sm" aria-label={`Remove ${name}`} onClick={onRemove}>
            Remove
          </Button>
        </RowActs>
      </Cell>
    </WideRow>
  )
}

interface NameDialogProps {
  /** Undefined while the dialog is closed. */
  named: Passkey | 'new' | undefined
  onClose: () => void
  onCodes: (recoveryCodes: readonly string[]) => void
}

function NameDialog({ named, ...on }: NameDialogProps) {
  return (
    <FormDialog isOpen={named !== undefined} title={named === 'new' ? 'Add a Passkey' : 'Rename Passkey'} onClose={on.onClose}>
      {named && <NameForm key={named === 'new' ? named : named.id} named={named} {...on} />}
    </FormDialog>
  )
}

function NameForm({ named, onClose, onCodes }: NameDialogProps & { named: Passkey | 'new' }) {
  const isNew = named === 'new'
  const form = useForm(() => import('@arcade/contract/passkeys/calls').then(({ passkeyNameInput }) => passkeyNameInput), {
    name: isNew ? '' : named.name,
  })

  const handleSubmit = async ({ name }: PasskeyNameInput) => {
    try {
      if (isNew) {
        const response = await makePasskey(await client.passkeys.options())
        const { recoveryCodes } = await client.passkeys.add({ name, response })
        if (recoveryCodes) onCodes(recoveryCodes)
      } else await client.passkeys.rename({ id: named.id, name })
      onClose()
      toast.success(isNew ? 'Passkey added.' : 'Passkey renamed.')
      await refreshFactor()
      return undefined
    } catch (cause) {
      return asCallError(cause) // the form shows it
    }
  }

  return (
    <DialogForm form={form} label="Passkey" onSubmit={handleSubmit} onCancel={onClose} submitLabel={isNew ? 'Add' : 'Rename'}>
      <TextField
        control={form.control}
        name="name"
        label="Name"
        {...(isNew && { description: 'Where it will be, such as “Work laptop”. The browser then asks you to make it.' })}
        isRequired
        autoComplete="off"
      />
    </DialogForm>
  )
}
