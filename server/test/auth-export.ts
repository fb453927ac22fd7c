/** An account of Firebase, as `firebase auth:export` writes it, and its password. */

/** The hash parameters of a project, and the password, salt and hash of an account in it: the example of github.com/firebase/scrypt. */
export const hashing = {
  base64_signer_key: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  base64_salt_separator: 'Bw==',
  rounds: 8,
  mem_cost: 14,
}
export const MOVED_PASSWORD = 'user1password'
export const moved = {
  passwordHash: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  salt: '42xEC+ixf3L2lw==',
}

export const account = (localId: string, more = {}) => ({
  localId,
  email: `${localId}@gmail.com`,
  createdAt: '1508893925000',
  ...more,
})
