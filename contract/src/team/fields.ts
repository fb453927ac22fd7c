/** The roles of admins. The user type stays `admin` or `user` (§6): a role makes its person an admin. */

export const roleLabels = {
  owner: 'Owner',
  manager: 'Manager',
  editor: 'Editor',
  reviewer: 'Reviewer',
  analyst: 'Analyst',
} as const
export type Role = keyof typeof roleLabels
export const roles = Object.keys(roleLabels) as Role[]
