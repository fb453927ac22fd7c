/** The model's commands for the calls of sessions and of the caller's own account (§4, §6, §7). */
import fc from 'fast-check'
import { PASSWORD } from '#test/test-app.ts'
import { command, endLinks, type Model, nth, type Person, signOutEverywhere } from './model.ts'
import { add, hasEmail, registration } from './model-people.ts'
import { pick } from './model-tasks.ts'

const newPassword = fc.constantFrom(PASSWORD, 'another horse')

export const authCommands = {
  session: command(
    fc.constant({}),
    () => ({}),
    (model, _input, caller) => {
      const person = caller.personId === undefined ? undefined : model.people.get(caller.personId)
      return { answer: { user: person ? sessionUser(person) : null } }
    },
  ),

  login: command(
    fc.record({ pick, isRight: fc.constantFrom(true, true, true, false) }),
    (model, { pick: n, isRight }) => {
      const person = nth(model.people, n)
      return {
        email: 'email' in person ? person.email : 'nobody@gmail.com',
        password: isRight && 'password' in person ? person.password : 'wrong password',
      }
    },
    (model, { email: address, password }, caller) => {
      const person = [...model.people.values()].find((one) => one.email === address)
      if (!person || password !== person.password) return { refusal: 'LOGIN_FAILED' }
      return {
        answer: { user: { id: person.id } },
        change: () => void (caller.personId = person.id),
      }
    },
  ),

  logout: command(
    fc.constant({}),
    () => ({}),
    (_model, _input, caller) => ({ change: () => void (caller.personId = undefined) }),
  ),

  register: command(
    registration,
    (_model, input) => input,
    (model, input, caller) => {
      if (hasEmail(model, input.email)) return { refusal: 'CREATE_USER_FAILED' }
      return {
        answer: { user: { fname: input.fname, email: input.email, userType: 'user' } },
        change({ user }) {
          const { id } = user as { id: string }
          add(model, id, input)
          caller.personId = id
        },
      }
    },
  ),
}

/** Password links are kept by the person whom they are for, with the token from the answer to `createPasswordLink`. */
export const accountCommands = {
  changePassword: command(
    fc.record({ isRight: fc.constantFrom(true, true, false), password: newPassword }),
    (model, { isRight, password: wanted }, caller) => {
      const person = model.people.get(caller.personId ?? '')
      const currentPassword = isRight ? (person?.password ?? PASSWORD) : 'wrong password'
      return { currentPassword, password: wanted, confirmPassword: wanted }
    },
    (model, input, caller) => {
      const person = model.people.get(caller.personId!)!
      if (input.currentPassword !== person.password) return { refusal: 'INVALID_INPUT' }
      return {
        change() {
          setPassword(model, person, input.password)
          caller.personId = person.id
        },
      }
    },
  ),

  sessions: command(
    fc.constant({}),
    () => ({}),
    ({ callers }, _input, { personId }) => {
      const own = callers.filter((caller) => caller.personId === personId)
      return { answer: { sessions: own.map((_, index) => ({ isCurrent: index === 0 })) } }
    },
  ),

  endOtherSessions: command(
    fc.constant({}),
    () => ({}),
    (model, _input, caller) => ({
      change() {
        const { personId } = caller
        for (const other of model.callers) if (other !== caller && other.personId === personId) other.personId = undefined
        endLinks(model, (link) => !link.isUsed && link.madeBy === personId)
      },
    }),
  ),

  createPasswordLink: command(
    pick,
    (model, n) => ({ id: nth(model.people, n).id }),
    (model, { id }, caller) => {
      if (id === caller.personId) return { refusal: 'NOT_BY_LINK' }
      if (!model.people.has(id)) return { refusal: 'NO_SUCH_USER' }
      return {
        change({ path }) {
          model.links.delete(id) // so that the newest link is the last one
          model.links.set(id, {
            token: (path as string | undefined)?.split('=')[1] ?? '',
            isUsed: false,
            madeBy: caller.personId!,
          })
          model.audited += 1
        },
      }
    },
  ),

  passwordLinks: command(
    fc.constant({}),
    () => ({}),
    ({ links }) => ({ answer: { links: [...links].flatMap(([id, { isUsed }]) => (isUsed ? [] : { id })) } }),
  ),

  endPasswordLink: command(
    pick,
    (model, n) => ({ id: nth(model.people, n).id }),
    (model, { id }) => ({
      change() {
        if (model.links.get(id)?.isUsed !== false) return
        model.links.delete(id)
        model.audited += 1
      },
    }),
  ),

  passwordLink: command(pick, linkInput, (model, { link }) => {
    const found = linkOf(model, link)
    return { answer: { state: found ? (found.isUsed ? 'used' : 'valid') : 'replaced' } }
  }),

  setPassword: command(
    fc.record({ pick, password: newPassword }),
    (model, { pick: n, password: wanted }) => ({ ...linkInput(model, n), password: wanted, confirmPassword: wanted }),
    (model, input) => {
      const found = linkOf(model, input.link)
      if (!found || found.isUsed) return { refusal: 'PASSWORD_LINK_INVALID' }
      return {
        change() {
          model.links.set(found.personId, { ...found, isUsed: true })
          setPassword(model, model.people.get(found.personId)!, input.password)
        },
      }
    },
  ),
}

function linkInput({ links }: Model, n: number): { link: string } {
  return { link: [...links.values()][n % (links.size + 1)]?.token ?? 'none' }
}

function linkOf({ links }: Model, token: string) {
  const [found] = [...links].filter(([, link]) => link.token === token)
  return found && { personId: found[0], ...found[1] }
}

function setPassword(model: Model, person: Person, wanted: string): void {
  model.people.set(person.id, { ...person, password: wanted })
  signOutEverywhere(model, person.id)
  model.audited += 1
}

function sessionUser({ id, fname: first, email: address, userType: type }: Person) {
  return { id, fname: first, email: address, userType: type, role: type === 'admin' ? 'owner' : null }
}
