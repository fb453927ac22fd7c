import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './children.ts'

const specification = readFileSync(join(root, 'docs/specification.md'), 'utf8')
const sections = new Map(specification.split(/^## (?=\d+\. )/m).map((text) => [text.slice(0, 1), text]))

/** The literal texts that operators, the bot and other programs read or send, repeated here so that a slip in the document is noticed. */
const literals: Record<string, readonly string[]> = {
  '2': `/auth/log-in|Welcome|Sign into your account|Sign In|Create an account|/register|Create Your New Account|Create Account
    Already have an account? Log In|/admin|Dashboard|/|Manage Users|/manage-users|Telegram Users|/manage-telegram-users|Social Tasks|/social-tasks
    Daily Tasks|/daily-tasks|Announcements|/annoucements|History|/history|Welcome Back|Log Out|Logged Out Succesfully!|Logging Out Failed!
    Admin Dashboard|Total Users|User Type|Users|Admins|Active Announcements|Task By Type|Instagram|Youtube|Website|Twitter|Telegram|0|Loading...
    User Dashboard|Sr.No|First Name|Last Name|Email|Update|Delete|Add User|Download User Data|View More|Page X of Y
    /update-user/{userId}/{fname}/{lname}/{email}|Update User|Back|/add-user|Create|Priority|Type|Title|Link|Reward|Participants|Edit|Add Task
    /social-tasks-form|/social-tasks-form-update|/daily-tasks-form|/daily-tasks-form-update|Prev Page|Next Page|Balance|A-Z|Subtitle|Desc/Link
    Toggle Status|Active|In Active|Image Name|Image Thumb|Icon Name|Icon Thumb|default|Add Annoucement|/annoucement-form|/annoucement-form-update
    Annoucements|Download|No users found...`.split(/\||\n\s*/),
  '3': `users|fname|lname|email|userType|admin|user|telegramUsers|createdAt|MM/dd/yyyy|hh:mm a|firstName|lastName|username|userId|twitterUsername
    instagramUsername|linkedInUsername|discordUsername|youtubeUsername|phoneNumber|tonWalletAddress|bscWallet|balance|undefined|socialTask|id|image
    priority|title|link|reward|numberOfParticipants|dailyTask|announcements|type|desc|subtitle|description|linkType|input|noInput|inputText|status
    icon|imageName|iconName|socialTasksHistory|dailyTasksHistory|announcementHistory|timestamp|first_name|last_name|userInput|not available
    totalUsers|totalTelegramUsers|userTypes|activeAnnouncements|totalTasks|tasksByType|instagram|youtube|moreLink|twitter|telegram|Website
    password|confirmPassword|login`.split(/\||\n\s*/),
  '4': ['/admin', 'Are you sure you want toggle status of {title}.'],
  '5': `Invalid email address|Email is required|Password must be at least 6 characters|Password is required|First Name is required
    Last Name is required|Email must be a @gmail.com|Passwords must match|Confirm Password is required|Priority is required|Type is required
    Title is required|Invalid URL format|Reward is required|Priority is already taken!|Type is required!|Subtitle is required|twitter|instagram
    linkedin|discord|youtube|moreLink|Website|email|bsc|Bsc Wallet Address|telegram|Link with input|Link without input|No file chosen`.split(
    /\||\n\s*/,
  ),
  '7': `GET /downloadUsersData|content-disposition|userdata.xlsx|DELETE /removeUser/{id}|status|success|message|GET /downloadTelegramUsersData
    TelegramUserdata.xlsx|POST /download-history|{data}|input|noInput|desc|users|failed|data.xlsx|POST /registerUser|GET /update-users-status
    startAfter|endBefore|data.success|uid|selectedImage|selectedIcon|announcements/{timestamp}_{filename}`.split(/\||\n\s*/),
  '8': `{success:false, message}|Error creating user!|Error logging in!|No such document!|Error logging out!|Error fetching users!
    Priority is already taken!|Internal Server Error!|No tasks found!|Error fetching tasks!|No annoucements found!|Error fetching annoucements!
    Error calculating metrics|Announcement not found|error|Invalid Credentials!|Registration Failed|Registration Failed!|Logging Out Failed!
    Error Downloading Data!|Internal Server Error|Updating info failed!|Error Deleting Task!|Error Deleting Annoucement!
    Error Creating Announcement!|Error Updating Announcement!|Failed to copy|Logged In Successfuly!|User Added Successfuly!
    Account Created Successfully!|Logged Out Succesfully!|Copied!|Data Downloaded Successfuly!|Data Downloaded Successfully!
    Info Updated Successfully!|Task Added Successfully!|Task Updated Successfully!|Task Deleted Succesfuly!|Annoucement Deleted Succesfuly!
    Status Updated Successfuly!|Announcement Created Successfully!|Announcement Updated Successfully!`.split(/\||\n\s*/),
  '9': ['balance', 'a-z', '{host}', 'userdata.xlsx', 'TelegramUserdata.xlsx', 'data.xlsx', '#2fedbf'],
}

test.each(Object.entries(literals))('§%s the specification lists every literal, to the letter', (section, expected) => {
  const quoted = new Set(Array.from(sections.get(section)?.matchAll(/`([^`]+)`/g) ?? [], ([, literal]) => literal))
  expect(expected.filter((literal) => !quoted.has(literal))).toEqual([])
})

test('§9 the specification states every number', () => {
  const limits = sections.get('9') ?? ''
  for (const limit of ['5 a page', '50 a page', '60 characters', 'at least 6', '1000 or 2000 ms', '5000 ms', '200 by 200'])
    expect(limits).toContain(limit)
})

test('§1 to §9 the specification and the design have every section that code and tests cite', () => {
  const design = readFileSync(join(root, 'docs/design.md'), 'utf8')
  for (const text of [specification, design])
    expect(Array.from(text.matchAll(/^## (\d+)\. /gm), ([, number]) => Number(number)).slice(0, 9)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
})
