/**
 * The page of a new broadcast: which announcement, to whom, when, with or without a control group, and beside it the message as players get
 * it. The address keeps the announcement and the filters, so that lists can link here and a reload loses neither.
 */
import { toBotItem } from '@arcade/contract/announcements/bot-item'
import { fileUrl } from '@arcade/contract/announcements/fields'
import type { BroadcastInput, BroadcastPlan } from '@arcade/contract/broadcasts/calls'
import { HOLD_BACK_MAX_PERCENT } from '@arcade/contract/broadcasts/fields'
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import { isolated } from '@arcade/contract/text'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { useWatch } from 'react-hook-form'
import { api, client, creation, queryClient } from '#src/client/client.ts'
import { BackToListButton } from '#src/lists/back-to-list.tsx'
import { showFailure } from '#src/lists/item-acts.ts'
import { filtersOnly, listFilter } from '#src/lists/list-address.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { FormPanel, FormWithAside, Preview } from '#src/ui/form-page.tsx'
import { Form, FormActions, SubmitButton, useForm } from '#src/ui/form.tsx'
import { momentText } from '#src/ui/moment.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { Page } from '#src/ui/page.tsx'
import type { Question } from '#src/ui/question.ts'
import { toast } from '#src/ui/toast.tsx'
import { AnnouncementField, useAnnouncement } from './announcement-field.tsx'
import { Audience, usePlan } from './audience.tsx'
import classes from './broadcasts.module.css'
import { ControlGroup, Paid, When } from './options.tsx'
import { TestButton } from './test-button.tsx'
import { durationText, recipientsText } from './words.ts'

export function NewBroadcastPage() {
  return (
    <Page title="New Broadcast" narrow="with-aside">
      <FormWithAside>
        <NewBroadcast />
      </FormWithAside>
    </Page>
  )
}

function NewBroadcast() {
  const { announcement: announcementId, ...rest } = useSearch({ from: '/shell/management/broadcasts/new' })
  const navigate = useNavigate()
  const audience = filtersOnly(playerList, rest)
  const show = (next: object) => void navigate({ to: '.', search: next, replace: true, resetScroll: false })
  const announcement = useAnnouncement(announcementId)
  const filter = listFilter(playerList, audience)
  const { form, options, holdBack } = usePlanForm(announcementId, filter)
  const plan = usePlan(filter, holdBack)
  const handleSubmit = useCreate(announcement.data?.title ?? '', plan.data)
  const item = announcement.data && toBotItem(announcement.data)
  const { isLater } = options

  return (
    <>
      {item && <Preview item={item.image === undefined ? item : { ...item, image: fileUrl(item.image) }} isBroadcast />}
      <FormPanel>
        <div className={classes['form']}>
          <Form form={form} onSubmit={handleSubmit} label="New Broadcast">
            <Section title="Announcement">
              <AnnouncementField
                announcement={announcement}
                id={announcementId}
                attempts={form.formState.submitCount}
                isMissing={form.formState.errors.announcementId !== undefined}
                onChange={(id) => {
                  form.clearErrors('announcementId')
                  show({ announcement: id, ...audience })
                }}
              />
            </Section>
            <Section title="Recipients">
              <Audience address={audience} plan={plan} onChange={(next) => show({ announcement: announcementId, ...next })} />
            </Section>
            <Section title="When">
              <When control={form.control} isLater={isLater} onChange={options.setIsLater} />
            </Section>
            <Section title="Control group">
              <ControlGroup control={form.control} isOn={options.isHeld} onChange={options.setIsHeld} plan={plan.data} />
            </Section>
            <Section title="Pace">
              <Paid control={form.control} isOn={options.isPaid} onChange={options.setIsPaid} plan={plan.data} />
            </Section>
            <FormActions back={<BackToListButton to="/broadcasts" />} notice={<FormRefusal form={form} />}>
              <TestButton announcementId={announcementId} />
              <SubmitButton>{isLater ? 'Schedule' : 'Send now'}</SubmitButton>
            </FormActions>
          </Form>
        </div>
      </FormPanel>
    </>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={classes['section']}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

const DEFAULT_HOLD_BACK_PERCENT = 10

/** The form, without the announcement and the filters, which are in the address, and which of its optional parts are in use. */
function usePlanForm(announcementId: string | undefined, filter: PlayersFilter) {
  const [isLater, setIsLater] = useState(false)
  const [isHeld, setIsHeld] = useState(false)
  const [isPaid, setIsPaid] = useState(false)
  const form = useForm(
    () => import('@arcade/contract/broadcasts/calls').then(({ broadcastInput }) => broadcastInput),
    { announcementId: '', sendAt: '', endsAt: '', holdBack: DEFAULT_HOLD_BACK_PERCENT },
    {
      used: ({ sendAt, endsAt, holdBack, paid }) => ({
        announcementId: announcementId ?? '',
        ...(Object.keys(filter).length > 0 && { filter }),
        ...(isLater && { sendAt }),
        ...(endsAt !== '' && { endsAt }),
        ...(isHeld && { holdBack }),
        ...(isPaid && { paid }),
      }),
    },
  )
  const percent = useWatch({ control: form.control, name: 'holdBack' })
  const isPercent = Number.isInteger(percent) && Number(percent) >= 1 && Number(percent) <= HOLD_BACK_MAX_PERCENT
  return {
    form,
    options: { isLater, setIsLater, isHeld, setIsHeld, isPaid, setIsPaid },
    /** The percentage for the plan. */
    holdBack: isHeld && isPercent ? Number(percent) : 0,
  }
}

/** Returns the form's submit handler: it asks, makes the broadcast and opens its page. */
function useCreate(title: string, plan: BroadcastPlan | undefined) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const [createOnce] = useState(creation)
  return async (input: BroadcastInput) => {
    if (!(await confirm(questionOf(input, title, plan)))) return undefined
    try {
      const { id } = await createOnce((options) => client.broadcasts.create(input, options))
      toast.success(input.sendAt === undefined ? 'The broadcast begins.' : 'Broadcast scheduled.')
      void queryClient.invalidateQueries({ queryKey: api.broadcasts.key() })
      await navigate({ to: '/broadcasts/$id', params: { id }, replace: true })
      return undefined
    } catch (cause) {
      return showFailure(cause)
    }
  }
}

function questionOf({ sendAt, paid }: BroadcastInput, title: string, plan: BroadcastPlan | undefined): Question {
  const players = plan ? recipientsText(plan) : 'the players who match'
  const duration = plan ? durationText(plan.minutes) : 'some time'
  const lines = [
    `Are you sure you want to send ${isolated(title)} to ${players}?`,
    sendAt === undefined
      ? `It begins at once and takes ${duration}. A message that was sent cannot be taken back.`
      : `It begins on ${momentText(sendAt)} and goes to the players who match then, now ${players}.`,
    plan && plan.held > 0 && `About ${counted(plan.held, 'player')}, chosen at random, get no message.`,
    paid && `Paid sending costs ${formatted(paid.starsEach)} Stars a message, and stops at ${formatted(paid.most)} Stars.`,
  ]
  return {
    title: sendAt === undefined ? 'Send broadcast' : 'Schedule broadcast',
    message: lines.map(
      (line) =>
        typeof line === 'string' && (
          <p key={line} className={classes['question']}>
            {line}
          </p>
        ),
    ),
    confirmLabel: sendAt === undefined ? `Send to ${players}` : 'Schedule',
  }
}
