import { describe, expect, test } from 'vitest'
import { announcementInput, announcements } from './calls.ts'
import { fileUrl } from './fields.ts'
import { changed, inputOf, messagesOf, text } from '#src/testing/inputs.ts'

const desc = { type: 'desc', title: 'Season 3', subtitle: 'Soon', description: 'New levels', reward: 250 }
const link = {
  type: 'link',
  title: 'Retweet',
  subtitle: 'And earn',
  link: 'https://x.com/1',
  linkType: 'input',
  inputText: 'Your post',
  reward: 5,
}
const KEY = 'announcements/1700000000000_banner.png'

describe.for([
  ['the form', announcementInput, {}],
  ['create', inputOf(announcements.create), {}],
  ['update', inputOf(announcements.update), { id: 'a1', version: 2 }],
] as const)('§5 announcement, %s', ([, schema, more]) => {
  test.for([
    [desc, {}],
    [desc, { description: '' }],
    [desc, { description: undefined }],
    [desc, { description: text(4096) }],
    [desc, { subtitle: text(60) }],
    [desc, { subtitle: ` ${text(60)} ` }],
    [desc, { link: '', linkType: undefined }],
    [desc, { image: KEY, imageName: 'banner.png', icon: null, iconName: null }],
    [link, {}],
    [link, { linkType: 'noInput', inputText: undefined }],
    [link, { inputText: '' }],
    [link, { inputText: text(200) }],
    [link, { reward: 0 }],
  ] as const)('%j with %j is accepted', ([valid, changes]) => {
    expect(messagesOf(schema, changed({ ...valid, ...more }, changes))).toEqual({})
  })

  test.for([
    [desc, { type: undefined }, { type: 'Type is required!' }],
    [desc, { type: '' }, { type: 'Type is required!' }],
    [desc, { type: 'video' }, { type: 'Type is required!' }],
    [desc, { title: '' }, { title: 'Title is required' }],
    [desc, { title: ' ' }, { title: 'Title is required' }],
    [desc, { title: text(201) }, { title: 'Title must be at most 200 characters' }],
    [desc, { subtitle: undefined }, { subtitle: 'Subtitle is required' }],
    [desc, { subtitle: '' }, { subtitle: 'Subtitle is required' }],
    [desc, { subtitle: text(61) }, { subtitle: 'Subtitle must be at most 60 characters' }],
    [desc, { reward: undefined }, { reward: 'Reward is required' }],
    [desc, { reward: 'much' }, { reward: 'Reward must be a number' }],
    [desc, { reward: -1 }, { reward: 'Reward must be 0 or more' }],
    [desc, { description: text(4097) }, { description: 'Description must be at most 4096 characters' }],
    [desc, { link: 'nonsense' }, { link: 'Invalid URL format' }],
    [desc, { imageName: text(256) }, { imageName: 'A file name has at most 255 characters' }],
    [link, { link: undefined }, { link: 'Invalid URL format' }],
    [link, { link: '' }, { link: 'Invalid URL format' }],
    [link, { link: 'javascript:alert(1)' }, { link: 'Invalid URL format' }],
    [link, { linkType: undefined }, { linkType: 'Link Type is required' }],
    [link, { linkType: 'both' }, { linkType: 'Link Type is required' }],
    [link, { inputText: text(201) }, { inputText: 'Input Text must be at most 200 characters' }],
    [
      link,
      { title: '', subtitle: '', link: undefined, linkType: undefined, reward: undefined },
      {
        title: 'Title is required',
        subtitle: 'Subtitle is required',
        link: 'Invalid URL format',
        linkType: 'Link Type is required',
        reward: 'Reward is required',
      },
    ],
  ] as const)('%j with %j is refused with %j', ([valid, changes, messages]) => {
    expect(messagesOf(schema, changed({ ...valid, ...more }, changes))).toEqual(messages)
  })

  test('§4 a form cannot set the status', () => {
    expect(messagesOf(schema, { ...desc, ...more, status: true })).toHaveProperty([''])
  })

  test.for([
    '../../etc/passwd',
    '/announcements/1700000000000_a.png',
    'announcements/1700000000000_',
    'announcements/17_a.png',
    'announcements/1700000000000_a/b.png',
    'announcements/1700000000000_a b.png',
    `announcements/1700000000000_${text(121)}`,
    'other/1700000000000_a.png',
    '',
  ])('§7 the key %s is refused', (key) => {
    for (const name of ['image', 'icon'])
      expect(messagesOf(schema, { ...desc, ...more, [name]: key })).toEqual({ [name]: 'There is no such file.' })
  })
})

test('§7 files left out become null', () => {
  const none = { image: null, imageName: null, icon: null, iconName: null }
  expect(announcementInput.parse(desc)).toMatchObject(none)
})

test('§7 a stored file has a URL, and its thumbnail has another', () => {
  expect(fileUrl(KEY)).toBe(`/api/files/${KEY}`)
  expect(fileUrl(KEY, 'thumb')).toBe(`/api/files/${KEY}?size=thumb`)
})

test.for([
  [{ id: 'a1', status: true }, true],
  [{ id: 'a1', status: false }, true],
  [{ id: 'a1', status: 'true' }, false],
  [{ id: 'a1' }, false],
] as const)('§4 a toggle states the status that was shown: %j is valid: %s', ([toggle, isValid]) => {
  expect(inputOf(announcements.toggleStatus).safeParse(toggle).success).toBe(isValid)
})

test.for([
  [undefined, false],
  [false, false],
  [true, true],
] as const)('§4 an update with staysActive %s keeps an active announcement active: %s', ([staysActive, expected]) => {
  const input = { ...desc, id: 'a1', version: 2, ...(staysActive !== undefined && { staysActive }) }
  expect(inputOf(announcements.update).parse(input)).toMatchObject({ staysActive: expected })
  expect(inputOf(announcements.update).safeParse({ ...input, staysActive: 'yes' }).success).toBe(false)
})
