/** The signed-in admin's second factor: sets up an authenticator app, shows recovery codes once, makes new ones, and removes the app. */
import type { CodeInput, SecondFactorState } from '@arcade/contract/second-factor/calls'
import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client, queryClient } from '#src/client/client.ts'
import { showFailure, useItemAct } from '#src/lists/item-acts.ts'
import { refreshSession } from '#src/session.tsx'
import { CopyButton, copyText } from '#src/ui/copy-button.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { Form, FormActions, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { PanelText, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { useUnsaved } from '#src/ui/unsaved.ts'
import classes from './account.module.css'

const QrCode = lazy(() => import('./qr-code.tsx').then((module) => ({ default: module.QrCode })))
/** Below this number the page advises to make new recovery codes. */
const FEW_CODES = 4

interface NewApp {
  secret: string
  uri: string
}

export function SecondFactor() {
  const { data, error, refetch } = useQuery(api.secondFactor.state.queryOptions())
  const [newApp, setNewApp] = useState<NewApp>()
  const [codes, setCodes] = useState<readonly string[]>()
  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  if (!data) return <output>Loading...</output>

  const handleBegin = async () => {
    try {
      setNewApp(await client.secondFactor.beginTotp())
    } catch (cause) {
      showFailure(cause)
    }
  }
  const handleConfirmed = (made: readonly string[]) => {
    setNewApp(undefined)
    setCodes(made)
    void refreshFactor()
  }
  if (codes) return <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />
  if (newApp) return <Confirmation app={newApp} onConfirmed={handleConfirmed} onCancel={() => setNewApp(undefined)} />
  return <State state={data} onBegin={() => void handleBegin()} onCodes={setCodes} />
}

/** Loads again what a change of the second factor changes: it also ends other sessions. */
export async function refreshFactor(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: api.secondFactor.key() }),
    queryClient.invalidateQueries({ queryKey: api.passkeys.key() }),
    queryClient.invalidateQueries({ queryKey: api.account.sessions.key() }),
    refreshSession(),
  ])
}

interface StateProps {
  state: SecondFactorState
  onBegin: () => void
  onCodes: (codes: readonly string[]) => void
}

function State({ state: { isOn, methods, totp, recoveryCodesLeft, policy }, onBegin, onCodes }: StateProps) {
  const act = useItemAct(api.secondFactor.key())
  const handleRemove = () =>
    void act(
      async () => {
        await client.secondFactor.removeTotp()
        void refreshFactor()
        return 'Authenticator app removed.'
      },
      {
        title: 'Remove authenticator app',
        message: `Are you sure? ${methods.includes('passkey') ? 'Your passkeys stay your second factor.' : `You then sign in with your password alone, and your recovery codes end.${policy === 'admins' ? MUST_HAVE : ''}`}`,
        isDestructive: true,
      },
    )
  const handleNewCodes = () =>
    void act(
      async () => {
        onCodes((await client.secondFactor.newRecoveryCodes()).codes)
        void refreshFactor()
        return 'Recovery codes made.'
      },
      { title: 'Make new recovery codes', message: 'Your present recovery codes then end, and so do your other sessions.' },
    )
  return (
    <>
      {totp ? (
        <p className={classes['linked']}>
          <strong>Authenticator app</strong>, since <Moment iso={totp.confirmedAt} />
        </p>
      ) : (
        <PanelText>{isOn ? ONLY_PASSKEYS : NO_FACTOR}</PanelText>
      )}
      {isOn && <CodesLeft count={recoveryCodesLeft} />}
      <div className={classes['buttons']}>
        {!totp && <Button onClick={onBegin}>Set Up Authenticator App</Button>}
        {isOn && (
          <Button variant="default" onClick={handleNewCodes}>
            Make New Recovery Codes
          </Button>
        )}
        {totp && (
          <>
            <Button variant="default" onClick={onBegin}>
              Use Another App
            </Button>
            <Button variant="default" onClick={handleRemove}>
              Remove
            </Button>
          </>
        )}
      </div>
    </>
  )
}

const MUST_HAVE = ' This console requires a second factor: you can do nothing else until you set one up again.'
const NO_FACTOR =
  'With a second factor, your password alone lets nobody in: after it, you enter a code that an app on your phone shows, or use a passkey.'
const ONLY_PASSKEYS = 'After your password you are asked for one of your passkeys. An authenticator app is another way.'

function CodesLeft({ count }: { count: number }) {
  return (
    <p className={classes['linked']} data-few={count < FEW_CODES || undefined}>
      <strong>{count === 1 ? '1 recovery code' : `${count} recovery codes`}</strong> left
      {count < FEW_CODES && '. Make new ones before you need them.'}
    </p>
  )
}

interface ConfirmationProps {
  app: NewApp
  onConfirmed: (recoveryCodes: readonly string[]) => void
  onCancel: () => void
}

function Confirmation({ app: { secret, uri }, onConfirmed, onCancel }: ConfirmationProps) {
  const form = useForm(() => import('@arcade/contract/second-factor/calls').then(({ codeInput }) => codeInput), { code: '' })
  const handleSubmit = async (input: CodeInput) => {
    try {
      onConfirmed((await client.secondFactor.confirmTotp(input)).recoveryCodes)
      toast.success('Authenticator app set up.')
      return undefined
    } catch (cause) {
      return asCallError(cause)
    }
  }
  return (
    <div className={classes['set-up']}>
      <Suspense fallback={<div className={classes['qr']} />}>
        <QrCode text={uri} label="QR code for your authenticator app" />
      </Suspense>
      <div className={classes['steps']}>
        <PanelText>
          Scan the QR code with an authenticator app, or enter the secret there. Then enter the code that it shows.
        </PanelText>
        <TextInput
          label="Secret"
          value={secret}
          readOnly
          onFocus={(event) => event.currentTarget.select()}
          rightSection={<CopyButton label="Secret" text={secret} />}
        />
        <Form form={form} onSubmit={handleSubmit} label="Confirm the app">
          <TextField control={form.control} name="code" label="Code" isRequired autoComplete="one-time-code" />
          <FormRefusal form={form} />
          <FormActions
            back={
              <Button variant="default" onClick={onCancel}>
                Cancel
              </Button>
            }
          >
            <SubmitButton>Switch On</SubmitButton>
          </FormActions>
        </Form>
      </div>
    </div>
  )
}

export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  useUnsaved(true, { isKept: false }) // who leaves without them may have no way in later
  const text = codes.join('\n')
  const handleDownload = () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' }))
    link.download = 'arcade-recovery-codes.txt'
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <>
      <p className={classes['warning']} role="alert">
        These are your recovery codes. They are not shown again: keep them where you find them without your phone. Each lets you
        in once in place of the app.
      </p>
      <ul className={classes['codes']} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className={classes['buttons']}>
        <Button variant="default" onClick={() => void copyText(text)}>
          Copy
        </Button>
        <Button variant="default" onClick={handleDownload}>
          Download
        </Button>
        <Button onClick={onDone}>I Have Kept Them</Button>
      </div>
    </>
  )
}
