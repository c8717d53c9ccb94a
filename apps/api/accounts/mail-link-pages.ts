// The two pages to which links in mails lead. Plain HTML with one script each, which talks to the api as any client does; the
// token stays in the address and goes nowhere else.
import { randomBytes } from 'node:crypto'

export interface Page {
  html: string
  headers: Record<string, string>
}

/** The page of an invitation link: sign in or sign up with the invited address, and join. */
export const invitationPage = (): Page =>
  page(
    'Join a team',
    `<p id="what">Looking at the invitation…</p>
<form id="form" hidden>
  <p id="who"></p>
  <label id="name-row">Your name <input id="name" maxlength="100" autocomplete="name"></label>
  <label id="password-row">Password <input id="password" type="password" minlength="10" maxlength="200"></label>
  <button id="join">Join</button>
  <p><a href="#" id="other"></a></p>
</form>`,
    `
let invitation, mode = 'sign-up'
const show = (next) => {
  mode = next
  $('name-row').hidden = mode !== 'sign-up'
  $('password-row').hidden = mode === 'accept'
  $('password').autocomplete = mode === 'sign-up' ? 'new-password' : 'current-password'
  $('join').textContent = { accept: 'Join', 'sign-in': 'Sign in and join', 'sign-up': 'Sign up and join' }[mode]
  $('other').textContent = { accept: '', 'sign-in': 'I have no account yet', 'sign-up': 'I have an account' }[mode]
}
$('other').onclick = (event) => { event.preventDefault(); show(mode === 'sign-in' ? 'sign-up' : 'sign-in') }
$('form').onsubmit = (event) => { event.preventDefault(); attempt(async () => {
  const { email } = invitation, password = $('password').value
  if (mode === 'sign-up')
    await ask('POST', '/api/auth/sign-up', { email, password, invitation_token: token, ...($('name').value && { display_name: $('name').value }) })
  if (mode === 'sign-in') await ask('POST', '/api/auth/sign-in', { email, password })
  if (mode !== 'sign-up') await ask('POST', '/api/invitations/' + token + '/accept')
  $('form').hidden = true
  $('what').textContent = 'You belong to the team "' + invitation.team.name + '" now.'
}) }
attempt(async () => {
  invitation = await ask('GET', '/api/invitations/' + token)
  $('what').textContent = 'You are invited to the team "' + invitation.team.name + '" as ' + (invitation.role === 'admin' ? 'an admin' : 'a member') + '.'
  $('who').textContent = 'For ' + invitation.email
  const session = await ask('GET', '/api/auth/session').catch(() => null)
  show(session && session.user.email.toLowerCase() === invitation.email.toLowerCase() ? 'accept' : 'sign-up')
  $('form').hidden = false
})`
  )

/** The page of a password reset link: set a new password. */
export const resetPasswordPage = (): Page =>
  page(
    'Set a new password',
    `<form id="form">
  <label>New password <input id="password" type="password" minlength="10" maxlength="200" autocomplete="new-password" required></label>
  <button>Set it</button>
</form>
<p id="what"></p>`,
    `
$('form').onsubmit = (event) => { event.preventDefault(); attempt(async () => {
  await ask('POST', '/api/auth/reset-password', { token, password: $('password').value })
  $('form').hidden = true
  $('what').textContent = 'Your password is set. All sessions are revoked; sign in again.'
}) }`
  )

const common = `
const $ = (id) => document.getElementById(id)
const token = location.pathname.split('/').pop()
const ask = async (method, path, body) => {
  const answer = await fetch(path, { method, ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) })
  const json = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Error(json.error || 'The service returned ' + answer.status)
  return json
}
const attempt = (work) => { $('error').textContent = ''; return work().catch((error) => { $('error').textContent = error.message }) }`

function page(title: string, body: string, script: string): Page {
  const nonce = randomBytes(16).toString('base64')
  return {
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style nonce="${nonce}">body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem}
label{display:block;margin:1rem 0}input{display:block;width:100%;font:inherit;padding:.4rem;box-sizing:border-box}
button{font:inherit;padding:.4rem 1rem}#error{color:#b00020}[hidden]{display:none}</style></head>
<body><h1>${title}</h1>
${body}
<p id="error" role="alert"></p>
<noscript>This page needs JavaScript.</noscript>
<script nonce="${nonce}">${common}${script}
</script></body></html>
`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
      'referrer-policy': 'no-referrer'
    }
  }
}
