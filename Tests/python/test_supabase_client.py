"""Drives the local backend with the official Python client: what that client can do, an app can do.

Wants SUPABASE_URL, SUPABASE_ANON_KEY and SUPABASE_SERVICE_ROLE_KEY, as `kizuna local --print-env` prints them.
"""

import os
import unittest

from postgrest.exceptions import APIError
from supabase import Client, create_client
from supabase_auth.errors import AuthApiError

URL = os.environ["SUPABASE_URL"]
ANON_KEY = os.environ["SUPABASE_ANON_KEY"]
SERVICE_KEY = os.environ["SUPABASE_SERVICE_ROLE_KEY"]
PASSWORD = "correct horse"


def signed_up(name: str) -> Client:
    client = create_client(URL, ANON_KEY)
    answer = client.auth.sign_up(
        {"email": f"{name}@example.com", "password": PASSWORD, "options": {"data": {"name": name}}}
    )
    assert answer.session is not None, "sign-up confirms by itself"
    return client


class AuthTests(unittest.TestCase):
    def test_sign_up_then_sign_in(self):
        first = signed_up("iris")
        self.assertEqual(first.auth.get_user().user.email, "iris@example.com")
        second = create_client(URL, ANON_KEY)
        session = second.auth.sign_in_with_password({"email": "iris@example.com", "password": PASSWORD}).session
        self.assertEqual(session.user.user_metadata, {"name": "iris"})
        self.assertEqual(session.expires_in, 3600)

    def test_a_wrong_password_is_refused(self):
        signed_up("joan")
        with self.assertRaises(AuthApiError) as caught:
            create_client(URL, ANON_KEY).auth.sign_in_with_password(
                {"email": "joan@example.com", "password": "wrong one"}
            )
        self.assertEqual(caught.exception.code, "invalid_credentials")

    def test_an_address_is_taken_once(self):
        signed_up("kim")
        with self.assertRaises(AuthApiError) as caught:
            signed_up("kim")
        self.assertEqual(caught.exception.code, "user_already_exists")

    def test_a_session_is_refreshed(self):
        client = signed_up("lena")
        before = client.auth.get_session()
        after = client.auth.refresh_session().session
        self.assertNotEqual(before.refresh_token, after.refresh_token)
        client.table("notes").insert({"body": "after the refresh"}).execute()
        self.assertEqual(len(client.table("notes").select("id").execute().data), 1)

    def test_the_user_changes_and_leaves(self):
        client = signed_up("mia")
        changed = client.auth.update_user({"data": {"name": "Mia", "age": 4}}).user
        self.assertEqual(changed.user_metadata, {"name": "Mia", "age": 4})
        token = client.auth.get_session().access_token
        client.auth.sign_out()
        self.assertIsNone(client.auth.get_session())
        with self.assertRaises(AuthApiError) as caught:
            client.auth.get_user(token)
        self.assertEqual(caught.exception.code, "session_not_found")

    def test_an_anonymous_user_is_a_user(self):
        client = create_client(URL, ANON_KEY)
        user = client.auth.sign_in_anonymously().user
        self.assertTrue(user.is_anonymous)
        client.table("notes").insert({"body": "by nobody in particular"}).execute()


class TableTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = signed_up("ada")
        cls.client.table("notes").insert(
            [
                {"body": "alpha", "rank": 1, "done": False},
                {"body": "beta, gamma", "rank": 2, "done": True},
                {"body": 'say "hi"', "rank": None, "done": False},
            ]
        ).execute()

    def bodies(self, query):
        return [row["body"] for row in query.order("id").execute().data]

    def notes(self):
        return self.client.table("notes").select("body")

    def test_filters(self):
        self.assertEqual(self.bodies(self.notes().eq("done", True)), ["beta, gamma"])
        self.assertEqual(self.bodies(self.notes().in_("body", ["beta, gamma", 'say "hi"'])), ["beta, gamma", 'say "hi"'])
        self.assertEqual(self.bodies(self.notes().is_("rank", "null")), ['say "hi"'])
        self.assertEqual(self.bodies(self.notes().gt("rank", 1)), ["beta, gamma"])
        self.assertEqual(self.bodies(self.notes().ilike("body", "%ALPHA%")), ["alpha"])
        self.assertEqual(self.bodies(self.notes().or_("rank.eq.1,done.is.true")), ["alpha", "beta, gamma"])
        self.assertEqual(self.bodies(self.notes().not_.is_("rank", "null")), ["alpha", "beta, gamma"])

    def test_pages_and_counts(self):
        answer = self.client.table("notes").select("body", count="exact").order("id").range(1, 1).execute()
        self.assertEqual([row["body"] for row in answer.data], ["beta, gamma"])
        self.assertEqual(answer.count, 3)
        one = self.client.table("notes").select("body").eq("rank", 1).single().execute()
        self.assertEqual(one.data, {"body": "alpha"})
        none = self.client.table("notes").select("body").eq("rank", 9).maybe_single().execute()
        self.assertIsNone(none.data if none else None)
        with self.assertRaises(APIError) as caught:
            self.client.table("notes").select("body").single().execute()
        self.assertEqual(caught.exception.code, "PGRST116")

    def test_update_upsert_delete(self):
        mine = self.client.table("notes")
        row = mine.insert({"body": "draft", "rank": 7}).execute().data[0]
        self.assertFalse(row["done"])
        row = mine.update({"body": "final"}).eq("id", row["id"]).execute().data[0]
        self.assertEqual(row["body"], "final")
        row = mine.upsert({"id": row["id"], "body": "better", "rank": 8}).execute().data[0]
        self.assertEqual((row["body"], row["rank"]), ("better", 8))
        gone = mine.delete().eq("id", row["id"]).execute().data
        self.assertEqual([each["id"] for each in gone], [row["id"]])
        self.assertEqual(mine.select("id").eq("id", row["id"]).execute().data, [])

    def test_errors_carry_their_codes(self):
        for code, query in [
            ("42703", self.client.table("notes").select("nothing")),
            ("PGRST205", self.client.table("nowhere").select("*")),
            ("PGRST204", self.client.table("notes").insert({"body": "x", "nothing": 1})),
            ("22P02", self.client.table("notes").select("*").eq("id", "x")),
        ]:
            with self.assertRaises(APIError) as caught:
                query.execute()
            self.assertEqual(caught.exception.code, code)


class RowPolicyTests(unittest.TestCase):
    def test_other_users_rows_are_out_of_reach(self):
        owner, other = signed_up("olga"), signed_up("paul")
        row = owner.table("notes").insert({"body": "private"}).execute().data[0]
        self.assertEqual(other.table("notes").select("*").execute().data, [])
        self.assertEqual(other.table("notes").update({"body": "mine"}).eq("id", row["id"]).execute().data, [])
        self.assertEqual(other.table("notes").delete().eq("id", row["id"]).execute().data, [])
        with self.assertRaises(APIError) as caught:
            other.table("notes").insert({"body": "forged", "owner": row["owner"]}).execute()
        self.assertEqual(caught.exception.code, "42501")
        self.assertEqual(owner.table("notes").select("body").execute().data, [{"body": "private"}])

    def test_without_a_user_there_are_no_rows(self):
        nobody = create_client(URL, ANON_KEY)
        self.assertEqual(nobody.table("notes").select("*").execute().data, [])
        with self.assertRaises(APIError):
            nobody.table("notes").insert({"body": "x"}).execute()

    def test_the_service_role_sees_all_rows(self):
        signed_up("quinn").table("notes").insert({"body": "seen by the service"}).execute()
        service = create_client(URL, SERVICE_KEY)
        found = service.table("notes").select("body").eq("body", "seen by the service").execute().data
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    unittest.main()
