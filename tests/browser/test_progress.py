"""What was read is ticked, in this browser alone."""

LESSON = "course/masking/"
TICKED = f".md-nav--primary a.bw-read[href$='{LESSON}'], .md-nav--primary a.bw-read.md-nav__link--active"


def test_a_page_that_was_read_to_its_end_is_ticked(site, fresh):
    page = fresh(LESSON)
    mark = page.locator(".bw-mark")
    assert mark.get_attribute("aria-pressed") == "false"
    page.evaluate("scrollTo(0, 100)")
    mark.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.bw-mark').ariaPressed === 'true'")
    assert page.locator(TICKED).count() > 0 and page.locator(TICKED).first.inner_text().endswith("read")
    page.goto(site.url + "paths/")
    page.wait_for_selector("a.bw-page-link.bw-read")
    listed = page.locator("#course-map a.bw-page-link")
    assert page.locator(".bw-count").inner_text() == f"1 of {listed.count()} read"
    assert page.locator("#course-map a.bw-read").get_attribute("href").endswith(LESSON)


def test_a_lab_that_was_read_is_not_solved(site, fresh):
    page = fresh("labs/elementwise/")
    mark = page.locator(".bw-mark")
    page.evaluate("scrollTo(0, 100)")
    mark.scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    assert mark.get_attribute("aria-pressed") == "false"
    mark.click()
    assert page.evaluate("localStorage['blockwise.read']") == '["labs/elementwise/"]'


def test_a_page_that_is_not_there_cannot_be_read(site, fresh):
    page = fresh("course/nowhere/")
    page.wait_for_selector("h1:has-text('No block')")
    page.wait_for_load_state("networkidle")
    assert page.locator(".bw-mark").count() == 0


def test_a_tick_is_taken_back(site, fresh):
    page = fresh(LESSON)
    page.locator(".bw-mark").evaluate("(mark) => mark.focus({ preventScroll: true })")  # to see it would tick the page as well
    page.keyboard.press("Enter")
    assert page.evaluate("localStorage['blockwise.read']") == f'["{LESSON}"]'
    page.keyboard.press("Enter")
    assert page.locator(TICKED).count() == 0
    page.goto(site.url + "paths/")
    assert page.locator(".bw-count").is_hidden()


def test_a_browser_that_keeps_nothing_shows_no_tick(site, fresh):
    page = fresh(None)
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('kept nothing') }")
    page.goto(site.url + LESSON)
    page.locator(".bw-mark").press("Enter")
    assert page.locator(".bw-mark").inner_text() == "Mark as read" and page.locator(TICKED).count() == 0


def test_an_old_address_leads_to_its_page(site, fresh):
    page = fresh("course/matmul-hopper/")
    page.wait_for_url("**/course/hopper/")
