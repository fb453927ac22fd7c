/**
 * The page to which the sign-in service sends the browser back. It finishes by itself: it signs in or links the account, as the state says,
 * and leads on. The session's cookie comes with its call, although it did not come with the navigation from another site (SameSite=Strict).
 */
import type { SessionUser } from '@arcade/contract/auth/calls'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { api, client, queryClient } from '#src/client/client.ts'
import { noteRefusal, type ServiceAnswer, takeRequestedPage } from '#src/client/sign-in-service.ts'
import { currentUser, useSession } from '#src/session.tsx'
import { goTo } from '#src/ui/app-link.tsx'
import { toast } from '#src/ui/toast.tsx'
import { AuthLayout } from './auth-layout.tsx'
import { welcome } from './welcome.ts'

export function OidcPage() {
  const name = useSession().signInService ?? 'the sign-in service'
  const answer = useSearch({ from: '/auth/oidc' })
  const [secondStep, setSecondStep] = useState<ReactNode>()
  const hasBegun = useRef(false)

  useEffect(() => {
    if (hasBegun.current) return // development renders twice, and the answer works once
    hasBegun.current = true
    // After the effects of this commit: one of them, the app's, sets how to navigate.
    queueMicrotask(() => void comeBack(answer, name, setSecondStep))
  }, [answer, name])

  if (secondStep) return secondStep
  return (
    <AuthLayout mode="login" title={`Coming Back from ${name}`} footer={null}>
      <output>Loading...</output>
    </AuthLayout>
  )
}

async function comeBack(answer: ServiceAnswer, name: string, showSecondStep: (step: ReactNode) => void): Promise<void> {
  const isLink = answer.state?.startsWith('link.') ?? false
  try {
    const { code, state, iss } = answer
    if (code === undefined || state === undefined) return await refuse(isLink, withoutCode(answer, name))
    const input = { code, state, ...(iss !== undefined && { iss }) }
    if (isLink) await finishLink(input, name)
    else await enter((await client.oidc.signIn(input)).user)
  } catch (cause) {
    const error = asCallError(cause)
    if (error.code !== 'SECOND_FACTOR_NEEDED') return refuse(isLink, error.message)
    const { SecondStep } = await import('./second-step.tsx')
    const text = `${name} knows you. Now prove that it is you`
    showSecondStep(<SecondStep methods={error.methods} text={text} onSignIn={enter} onLeave={() => void goTo('/auth/log-in')} />)
  }
}

type Input = Parameters<typeof client.oidc.signIn>[0]

async function finishLink(input: Input, name: string): Promise<void> {
  await client.oidc.link(input)
  await queryClient.invalidateQueries({ queryKey: api.oidc.key() })
  await goTo('/account')
  toast.success(`${name} account linked.`)
}

async function enter(user: SessionUser): Promise<void> {
  welcome(user)
  await goTo(takeRequestedPage() ?? '/admin') // §4
}

/** Leads back to where the person came from, with the reason. */
async function refuse(isLink: boolean, message: string): Promise<void> {
  if (isLink && currentUser()) {
    await goTo('/account')
    toast.failure('The account was not linked', { detail: message })
    return
  }
  if (currentUser()) return goTo('/admin')
  noteRefusal(message)
  await goTo('/auth/log-in')
}

function withoutCode({ error }: ServiceAnswer, name: string): string {
  if (error === 'access_denied') return `You cancelled at ${name}. Nothing has changed.`
  return `${name} sent you back without an answer. Please try again, or use your password.`
}
