/**
 * The saved views of a list: a button with a pane to open, save, change and delete views, and to choose the default. Views are links, so
 * that they can be copied, sent, and opened in another tab.
 */
import type { View, ViewInput } from '@arcade/contract/views/calls'
import { isolated } from '@arcade/contract/text'
import { ActionIcon, Button } from '@mantine/core'
import { type Icon as IconType, IconBookmarks, IconHome, IconHomeFilled, IconPencil, IconTrash } from '@tabler/icons-react'
import { type MouseEvent, type ReactNode, useId, useState } from 'react'
import { isForBrowser } from '#src/ui/app-link.tsx'
import { Choice } from '#src/ui/choice.tsx'
import { Form, FormActions, type Refusal, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { Pane } from '#src/ui/pane.tsx'
import classes from './views-pane.module.css'

const loadViewInput = async () => (await import('@arcade/contract/views/calls')).viewInput

export interface ListView extends View {
  /** The view's address. */
  href: string
  /** Whether the list currently shows this view. */
  isCurrent: boolean
}

interface ViewsPaneProps {
  /** Undefined while loading. */
  views: readonly ListView[] | undefined
  /** What sharing a view does beside showing it to others. */
  shareHint?: string | undefined
  /** The list without any view. */
  whole: { href: string; isCurrent: boolean }
  onOpen: (href: string) => void
  /** Saves what the list shows as a new view, or changes `view`: its name and, with `isWithList`, what it shows. */
  onSave: (input: ViewInput, view: View | undefined, isWithList: boolean) => Promise<Refusal | void>
  onDelete: (view: View) => Promise<void>
  /** Sets the default view; undefined for none. */
  onDefault: (view: View | undefined) => Promise<void>
}

export function ViewsPane({ views, shareHint, whole, onOpen, onSave, onDelete, onDefault }: ViewsPaneProps) {
  const [isOpen, setIsOpen] = useState(false)
  const [edited, setEdited] = useState<View>()
  const current = views?.find(({ isCurrent }) => isCurrent)

  const handleOpenChange = (next: boolean) => {
    setIsOpen(next)
    if (next) setEdited(undefined)
  }
  const handleFollow = (href: string) => {
    handleOpenChange(false)
    onOpen(href)
  }
  const handleSave = async (input: ViewInput, isWithList: boolean) => {
    const refusal = await onSave(input, edited, isWithList)
    if (!refusal) handleOpenChange(false)
    return refusal
  }
  const handleDelete = (view: View) => {
    handleOpenChange(false)
    void onDelete(view)
  }

  return (
    <Pane
      isOpen={isOpen}
      onChange={handleOpenChange}
      title="Saved views"
      className={classes['pane']}
      button={{
        leftSection: <IconBookmarks size={18} aria-hidden />,
        children: <span className={classes['name']}>{current ? `Saved: ${isolated(current.name)}` : 'Saved'}</span>,
      }}
    >
      <ul className={classes['views']}>
        <li>
          <ViewLink {...whole} onFollow={handleFollow}>
            Whole list
          </ViewLink>
        </li>
        {views?.map((view) => (
          <ViewItem
            key={view.id}
            view={view}
            onFollow={handleFollow}
            onDefault={() => void onDefault(view.isDefault ? undefined : view)}
            onChange={() => setEdited(view)}
            onDelete={() => handleDelete(view)}
          />
        ))}
      </ul>
      <ViewForm
        key={edited?.id ?? ''}
        view={edited}
        shareHint={shareHint}
        onSave={handleSave}
        onCancel={() => setEdited(undefined)}
      />
    </Pane>
  )
}

interface ViewItemProps {
  view: ListView
  onFollow: (href: string) => void
  onDefault: () => void
  onChange: () => void
  onDelete: () => void
}

function ViewItem({ view, onFollow, onDefault, onChange, onDelete }: ViewItemProps) {
  const { isShared, isDefault } = view
  const name = isolated(view.name)
  return (
    <li>
      <ViewLink href={view.href} isCurrent={view.isCurrent} onFollow={onFollow}>
        {name}
        {isShared && <span className={classes['owner']}>{ownerText(view)}</span>}
      </ViewLink>
      <ViewAct
        label={`See ${name} first`}
        title="See it first"
        Icon={isDefault ? IconHomeFilled : IconHome}
        isPressed={isDefault}
        onClick={onDefault}
      />
      <ViewAct label={`Change ${name}`} title="Change" Icon={IconPencil} onClick={onChange} />
      <ViewAct label={`Delete ${name}`} title="Delete" Icon={IconTrash} onClick={onDelete} />
    </li>
  )
}

interface ViewLinkProps {
  href: string
  isCurrent: boolean
  onFollow: (href: string) => void
  children: ReactNode
}

function ViewLink({ href, isCurrent, onFollow, children }: ViewLinkProps) {
  const handleClick = (event: MouseEvent) => {
    if (isForBrowser(event)) return
    event.preventDefault()
    onFollow(href)
  }
  return (
    <a href={href} aria-current={isCurrent || undefined} className={classes['view']} onClick={handleClick}>
      {children}
    </a>
  )
}

interface ViewActProps {
  /** Includes the view's name. */
  label: string
  title: string
  Icon: IconType
  isPressed?: boolean
  onClick: () => void
}

function ViewAct({ label, title, Icon, isPressed, onClick }: ViewActProps) {
  return (
    <ActionIcon variant="subtle" size="lg" aria-label={label} aria-pressed={isPressed} title={title} onClick={onClick}>
      <Icon size={18} aria-hidden />
    </ActionIcon>
  )
}

function ownerText({ isOwn, owner }: View): string {
  if (isOwn) return 'Shared by you'
  return owner === null ? 'Shared' : `Shared by ${isolated(owner)}`
}

interface ViewFormProps {
  view: View | undefined
  shareHint: string | undefined
  onSave: (input: ViewInput, isWithList: boolean) => Promise<Refusal | void>
  onCancel: () => void
}

function ViewForm({ view, shareHint, onSave, onCancel }: ViewFormProps) {
  const hint = useId()
  const form = useForm(loadViewInput, { name: view?.name ?? '', isShared: view?.isShared ?? false })
  const [isWithList, setIsWithList] = useState(false)
  const label = view ? `Change ${isolated(view.name)}` : 'Save what the list shows'
  return (
    <Form form={form} label={label} onSubmit={(input) => onSave(input, isWithList)}>
      <h3 className={classes['subtitle']}>{label}</h3>
      <TextField control={form.control} name="name" label="Name" isRequired />
      <div>
        <Choice {...form.register('isShared')} aria-describedby={shareHint && hint}>
          Share with all admins
        </Choice>
        {shareHint !== undefined && (
          <p id={hint} className={classes['hint']}>
            {shareHint}
          </p>
        )}
      </div>
      {view && (
        <Choice checked={isWithList} onChange={({ target }) => setIsWithList(target.checked)}>
          Replace its content with what the list shows now
        </Choice>
      )}
      <FormActions
        back={
          view && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )
        }
      >
        <SubmitButton>{view ? 'Update' : 'Save'}</SubmitButton>
      </FormActions>
    </Form>
  )
}
