-- Run by test_editors.py in Neovim, with a file open: writes what the editor shows as JSON to $ANSWERS.

local function wait(what, condition)
  if not vim.wait(30000, condition, 20) then
    io.stderr:write("no " .. what .. "\n")
    vim.cmd("cquit")
  end
end

local buffer = vim.api.nvim_get_current_buf()
local answers = { filetype = vim.bo.filetype, indent = vim.bo.shiftwidth, diagnostics = {} }
wait("client", function() return #vim.lsp.buf_get_clients(buffer) > 0 end)
wait("diagnostics", function() return #vim.diagnostic.get(buffer) > 0 end)
for _, each in ipairs(vim.diagnostic.get(buffer)) do
  table.insert(answers.diagnostics, { line = each.lnum + 1, column = each.col + 1, message = each.message })
end

-- The window that the editor opens for documentation.
local function window_after(show)
  local before, found = #vim.api.nvim_list_wins(), nil
  show()
  wait("window", function() return #vim.api.nvim_list_wins() > before end)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then found = window end
  end
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(found), 0, -1, false)
  vim.api.nvim_win_close(found, true)
  return table.concat(lines, "\n")
end

vim.api.nvim_win_set_cursor(0, { 2, 2 })
answers.hover = window_after(vim.lsp.buf.hover)
vim.api.nvim_win_set_cursor(0, { 2, 24 })
answers.signature = window_after(vim.lsp.buf.signature_help)

local function ask(method, line, character, more)
  local params = vim.tbl_extend("error", {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    position = { line = line - 1, character = character - 1 },
  }, more or {})
  for _, answer in pairs(vim.lsp.buf_request_sync(buffer, method, params, 30000) or {}) do
    return answer.result
  end
end

answers.completion = {}
local complete = ask("textDocument/completion", 3, 9)
for _, item in ipairs(vim.lsp.util.text_document_completion_list_to_complete_items(complete, "soft")) do
  table.insert(answers.completion, item.word)
end

vim.api.nvim_win_set_cursor(0, { 3, 11 })
vim.lsp.buf.definition()
wait("jump", function() return vim.api.nvim_win_get_cursor(0)[1] == 2 end)

-- The quick fix, then a new name, then the format of `pdl fmt`.
local range = vim.lsp.util.make_given_range_params({ 3, 4 }, { 3, 4 })
range.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(buffer, 2) }
local actions = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", range, 30000)
for _, answer in pairs(actions) do
  answers.fix = answer.result[1].title
  vim.lsp.util.apply_workspace_edit(answer.result[1].edit, "utf-16")
end
wait("repair", function() return #vim.diagnostic.get(buffer) == 0 end)
vim.api.nvim_win_set_cursor(0, { 2, 0 })
vim.lsp.buf.rename("inner")
wait("rename", function() return vim.api.nvim_buf_get_lines(buffer, 1, 2, false)[1]:find("^inner") end)
vim.lsp.buf.formatting_sync(nil, 30000)
answers.lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

local file = io.open(os.getenv("ANSWERS"), "w")
file:write(vim.fn.json_encode(answers))
file:close()
vim.cmd("qall!")
