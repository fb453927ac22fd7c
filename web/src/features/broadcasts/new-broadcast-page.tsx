/**
 * The page of a new broadcast: which announcement, to whom, when, with or without a control group, and beside it the message as players get
 * it. The address keeps the announcement and the filters, so that lists can link here and a reload loses neither.
 */
import type { BroadcastInput, BroadcastPlan } from '@arcade/contract/broadcasts/calls'
import { playerList } from '@arcade/contract/players/fields'
import { isolated } from '@arcade/contract/text'
import type { View } from '@arcade/contract/views/calls'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { api, client, makeCreateOnce, queryClient } from '#src/client/client.ts'
import { BackToListButton } from '#src/lists/back-to-list.tsx'
import { showFailure } from '#src/lists/item-acts.ts'
import { filtersOnly, listFilter } from '#src/lists/list-address.ts'
import { parseSearch, stringifySearch } from '#src/lists/search-params.ts'
import type { PlayersAddress } from '#src/lists/segments.ts'
import { useUnread } from '#src/lists/unread.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { DraftOffer } from '#src/ui/form-draft.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { FormPanel, FormWithAside } from '#src/ui/form-page.tsx'
import { Form, FormActions, SubmitButton } from '#src/ui/form.tsx'
import { momentText } from '#src/ui/moment.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { Page } from '#src/ui/page.tsx'
import type { Question } from '#src/ui/question.ts'
import { toast } from '#src/ui/toast.tsx'
import { operatorZone, zoneText } from '#src/ui/zoned-time.ts'
import { AnnouncementField, claimantsText, SegmentNote, useAnnouncement } from './announcement-field.tsx'
import { Audience, useItemSegment, usePlan } from './audience.tsx'
import classes from './broadcasts.module.css'
import { MessagePreview } from './message-preview.tsx'
import { ControlGroup, Paid, When } from './options.tsx'
import { usePlanForm } from './plan-form.ts'
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
  const { announcementId, audience, show, showAnnouncement, showAudience } = useBroadcastAddress()
  const announcement = useAnnouncement(announcementId)
  const filter = listFilter(playerList, audience)
  const { form, isLater, begins, holdBack } = usePlanForm({
    announcementId,
    filter,
    address: stringifySearch({ announcement: announcementId, ...audience }),
    onAddress: (address) => show(parseSearch(address)),
  })
  const plan = usePlan(filter, holdBack)
  const segment = useItemSegment(announcement.data?.segmentId, audience)
  const handleSubmit = useCreate({ title: announcement.data?.title ?? '', plan: plan.data, segment, onDone: form.finish })

  return (
    <>
      <MessagePreview announcement={announcement.data} />
      <FormPanel>
        <DraftOffer offer={form.offer} />
        <div className={classes['form']}>
          <Form form={form} onSubmit={handleSubmit} label="New Broadcast">
            <Section title="Announcement">
              <AnnouncementField
                announcement={announcement}
                begins={begins}
                id={announcementId}
                attempts={form.formState.submitCount}
                isMissing={form.formState.errors.announcementId !== undefined}
                onChange={(id) => {
                  form.clearErrors('announcementId')
                  showAnnouncement(id)
                }}
              />
              {segment && <SegmentNote segment={segment} onChoose={showAudience} />}
            </Section>
            <Section title="Recipients">
              <Audience address={audience} plan={plan} onChange={showAudience} />
            </Section>
            <Section title="When">
              <When control={form.control} />
            </Section>
            <Section title="Control group">
              <ControlGroup control={form.control} plan={plan.data} />
            </Section>
            <Section title="Pace">
              <Paid control={form.control} plan={plan.data} />
            </Section>
            <FormActions back={<BackToListButton to="/broadcasts" />} notice={<FormRefusal form={form} />}>
              <TestButton announcementId={announcementId} />
              <SubmitButton>{isLater && !isPast(begins) ? 'Schedule' : 'Send now'}</SubmitButton>
            </FormActions>
          </Form>
        </div>
      </FormPanel>
    </>
  )
}

/** Returns the announcement and the recipients in the page's address, with functions that show others. */
function useBroadcastAddress() {
  const { announcement: announcementId, ...rest } = useSearch({ from: '/shell/management/broadcasts/new' })
  const navigate = useNavigate()
  const unread = useUnread()
  const audience = filtersOnly(playerList, rest)
  /** The form stays, so nothing that was typed is lost. */
  const show = (search: object, state = {}) =>
    void navigate({ to: '.', search, state, replace: true, resetScroll: false, ignoreBlocker: true })
  return {
    announcementId,
    audience,
    show,
    // The recipients stay the same, and so does the notice about the parts that could not be read.
    showAnnouncement: (id: string | undefined) => show({ announcement: id, ...audience }, { unread }),
    showAudience: (next: PlayersAddress) => show({ announcement: announcementId, ...next }),
  }
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

/** Returns the form's submit handler: it asks, makes the broadcast and opens its page. */
function useCreate({ onDone, ...facts }: Facts & { onDone: () => void }) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const [createOnce] = useState(makeCreateOnce)
  return async (input: BroadcastInput) => {
    if (!(await confirm(questionOf(input, facts)))) return undefined
    try {
      const { id } = await createOnce((options) => client.broadcasts.create(input, options))
      onDone()
      toast.success(beginsAtOnce(input) ? 'The broadcast begins.' : 'Broadcast scheduled.')
      void queryClient.invalidateQueries({ queryKey: api.broadcasts.key() })
      await navigate({ to: '/broadcasts/$id', params: { id }, replace: true })
      return undefined
    } catch (cause) {
      return showFailure(cause)
    }
  }
}

/** What the question says of a broadcast beside its input. */
interface Facts {
  title: string
  plan: BroadcastPlan | undefined
  /** The segment that the announcement is for, if the recipients are not that segment. */
  segment: View | undefined
}

/** A time in the past is no plan: such a broadcast begins at once, too. */
function beginsAtOnce({ sendAt }: BroadcastInput): boolean {
  return sendAt === undefined || isPast(Date.parse(sendAt))
}

function isPast(at: number | undefined): boolean {
  return at !== undefined && at <= Date.now()
}

function questionOf(input: BroadcastInput, { title, plan, segment }: Facts): Question {
  const { sendAt, paid } = input
  const isNow = beginsAtOnce(input)
  const players = plan ? recipientsText(plan) : 'the players who match'
  const duration = plan ? durationText(plan.minutes) : 'some time'
  const lines = [
    `Are you sure you want to send ${isolated(title)} to ${players}?`,
    isNow || sendAt === undefined
      ? `It begins at once and takes ${duration}. A message that was sent cannot be taken back.`
      : `It begins on ${momentText(sendAt)}, ${zoneText(Date.parse(sendAt), operatorZone())}, and goes to the players who match then.`,
    segment && claimantsText(segment),
    plan && plan.held > 0 && `About ${counted(plan.held, 'player')}, chosen at random, get no message.`,
    paid && `Paid sending costs ${formatted(paid.starsEach)} Stars a message, and stops at ${formatted(paid.most)} Stars.`,
  ]
  return {
    title: isNow ? 'Send broadcast' : 'Schedule broadcast',
    message: lines.map(
      (line) =>
        typeof line === 'string' && (
          <p key={line} className={classes['question']}>
            {line}
          </p>
        ),
    ),
    confirmLabel: isNow ? `Send to ${players}` : 'Schedule',
  }
}
