/** Tasks and announcements: open the link, answer a question if there is one, and claim. */
import { withoutInvisible } from '@arcade/contract/text'
import { type FormEvent, useEffect } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { format } from '#src/format.ts'
import { BLOCKED, consoleClient, queryClient, refresh, sentenceOf } from './api.ts'
import { announcements, dailyTasks, picture, socialTasks, useIsBlocked } from './items.ts'
import { openLink } from './telegram.ts'

type Kind = 'social' | 'daily' | 'announcement'

interface Item {
  id: string
  title: string
  link: string | null
  reward: number
  isDone: boolean
  verifiedByBot: boolean
  subtitle?: string
  description?: string | null
  linkType?: 'input' | 'noInput' | null
  inputText?: string | null
  isNew?: boolean
  image?: string | null
  icon?: string | null
}

export function Earn() {
  const news = useQuery(announcements)
  const social = useQuery(socialTasks)
  const daily = useQuery(dailyTasks)
  const isBlocked = useIsBlocked()

  // `upTo` belongs to the announcements shown here, so that later ones stay new.
  const upTo = news.data?.upTo
  const hasNew = news.data?.announcements.some(({ isNew }) => isNew) ?? false
  useEffect(() => {
    if (upTo === undefined || !hasNew) return
    const markSeen = async (): Promise<void> => {
      await (await consoleClient).seen({ userId: 'me', upTo })
      // Not the announcements: the new ones stay marked while the player looks at them.
      await queryClient.invalidateQueries({ queryKey: ['me'] })
    }
    markSeen().catch(() => {}) // retried the next time
  }, [upTo, hasNew])

  return (
    <>
      {isBlocked && <output className="item notice">{BLOCKED}</output>}
      <Items title="Announcements" kind="announcement" items={news.data?.announcements} error={news.error} />
      <Items title="Daily tasks" kind="daily" items={daily.data?.tasks} error={daily.error} />
      <Items title="Social tasks" kind="social" items={social.data?.tasks} error={social.error} />
    </>
  )
}

function Items({
  title,
  kind,
  items,
  error,
}: {
  title: string
  kind: Kind
  items: readonly Item[] | undefined
  error: Error | null
}) {
  return (
    <section>
      <h2>{title}</h2>
      {error && <p role="alert">{error.message}</p>}
      {items?.length === 0 && <p className="hint">Nothing right now.</p>}
      <ul>
        {items?.map((item) => (
          <ItemCard key={item.id} kind={kind} item={item} />
        ))}
      </ul>
    </section>
  )
}

function ItemCard({ kind, item }: { kind: Kind; item: Item }) {
  const isBlocked = useIsBlocked()
  const claim = useMutation({
    mutationFn: async (userInput: string | undefined) =>
      (await consoleClient).claim({ userId: 'me', kind, id: item.id, ...(userInput !== undefined && { userInput }) }),
    onSuccess: refresh,
  })
  const { link } = item
  const canClaim = !isBlocked && !item.isDone && !item.verifiedByBot
  const asks = item.linkType === 'input'
  const handleSubmit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const input = new FormData(event.currentTarget).get('input')
    claim.mutate(typeof input === 'string' ? input : undefined)
  }
  return (
    <li className="item">
      {item.image && <Picture file={item.image} />}
      <h3>
        {item.icon && <Picture file={item.icon} />} {item.title} {item.isNew && <em>new</em>}
      </h3>
      {item.subtitle && <p className="hint">{item.subtitle}</p>}
      {item.description && <p className="description">{item.description}</p>}
      <form onSubmit={handleSubmit}>
        <span className="reward">+{format(item.reward)}</span>
        {link !== null && (
          <button type="button" onClick={() => openLink(withoutInvisible(link))}>
            Open
          </button>
        )}
        {asks && canClaim && (
          <input
            name="input"
            required
            maxLength={500}
            aria-label={item.inputText ?? 'Your answer'}
            placeholder={item.inputText ?? ''}
          />
        )}
        {item.verifiedByBot && !item.isDone ? (
          <span className="hint">The bot checks whether it is done.</span>
        ) : (
          <button type="submit" className="main" disabled={!canClaim || claim.isPending}>
            {item.isDone ? 'Done ✓' : 'Claim'}
          </button>
        )}
      </form>
      {claim.error && <p role="alert">{sentenceOf(claim.error)}</p>}
    </li>
  )
}

/** An `img` cannot send the authorization header, so the bytes are fetched like other data. */
function Picture({ file }: { file: string }) {
  const { data } = useQuery(picture(file))
  return data ? <img src={data} alt="" /> : null
}
